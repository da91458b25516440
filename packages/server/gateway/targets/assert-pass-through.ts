import { invalid } from '@rideau/llm/formats/shared/reading/read-fields'
import type { Findings } from '@rideau/llm/formats/shared/requests/findings'
import type { Requester } from './requester.ts'

/**
 * Throws `invalid_request` if a client token uses fields that the gateway does not validate. End users hold client
 * tokens, so an environment must allow this (`allow_client_passthrough`). Data stored at the provider is never allowed:
 * it belongs to the whole environment.
 */
export function assertPassThrough(
  { caller, environment }: Requester,
  { stored, passedOn }: Pick<Findings, 'stored' | 'passedOn'>,
): void {
  if (caller.kind !== 'client_token') return
  if (stored !== undefined)
    throw invalid(
      stored,
      'is not accepted from a client token, since it accesses data stored at the provider.',
    )
  if (environment.allowClientPassthrough || passedOn === undefined) return
  throw invalid(
    passedOn,
    'is not accepted from a client token; the environment does not set allow_client_passthrough.',
  )
}
