import type { Findings } from '@rideau/llm/formats/shared/findings'
import { invalid } from '@rideau/llm/formats/shared/read-fields'
import type { Caller, Environment } from '../../core/tenancy.ts'

/**
 * A client token is in the hands of an end user: what the gateway does not read may not come from there unless the
 * environment lets it. No setting opens the provider's store: it belongs to the whole environment.
 */
export function assertPassThrough(
  caller: Caller,
  environment: Environment,
  { stored, passedOn }: Pick<Findings, 'stored' | 'passedOn'>,
): void {
  if (caller.kind !== 'client_token') return
  if (stored !== undefined) throw invalid(stored, 'a client token may not reach what the provider keeps.')
  if (environment.allowClientPassthrough || passedOn === undefined) return
  throw invalid(passedOn, 'a client token may not send this here.')
}
