import type { JsonObject } from '@rideau/llm/spec'
import type { Caller, Environment } from '../../core/tenancy.ts'
import { invalid } from '../surfaces/fields.ts'
import type { ChatSurface } from '../surfaces/surface.ts'

/**
 * A client token is in the hands of an end user: what the gateway does not read may not come from there, unless the
 * environment says so (contract.md §3).
 */
export function refusePassThrough(
  caller: Caller,
  environment: Environment,
  surface: Pick<ChatSurface, 'findPassedOn'>,
  body: JsonObject,
): void {
  if (caller.kind !== 'client_token' || environment.allowClientPassthrough) return
  const name = surface.findPassedOn(body)
  if (name !== undefined) throw invalid(name, 'a client token may not send this here.')
}
