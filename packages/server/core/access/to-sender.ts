import type { Sender } from '@rideau/llm/upstream/outgoing-rules'
import type { Caller, Environment } from '../tenancy/tenancy.ts'

/** Returns as whom a provider is asked: what may be sent to it depends on that. */
export function toSender(caller: Caller, environment: Environment): Sender {
  if (caller.kind !== 'client_token') return 'key'
  return environment.allowClientPassthrough ? 'trusted_end_user' : 'end_user'
}
