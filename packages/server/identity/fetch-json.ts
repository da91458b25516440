import type { JsonBounds } from '@rideau/llm/json/json-bounds'
import { Fault } from '../core/fault.ts'
import { parseJson, parseLongJson } from '../http/body/parse-json.ts'
import type { EgressPolicy } from '../http/egress/egress.ts'
import { guardedGet } from '../http/egress/guarded-get.ts'
import { findUrlObjection } from '../http/egress/outgoing-url.ts'

/** Why a document could not be fetched. The message is public and repeats nothing of the response. */
export class FetchError extends Error {
  override readonly name = 'FetchError'
}

const LIMITS = { timeoutMs: 5_000, maxBytes: 512 * 1024 }

/** A key set of 50 keys with their certificates has some 1,500 parts. */
const BOUNDS: JsonBounds = { maxValues: 10_000, maxParts: 4_096, maxFields: 1_024, maxNameBytes: 1_024 }

const REASONS = {
  refused: 'its address is not allowed',
  timeout: 'its host did not respond within 5 seconds',
  unreachable: 'its host could not be reached',
}

/**
 * Fetches a JSON document from a tenant's URL, through the egress guard: at most 512 KiB within 5 seconds, without
 * following redirects. It is parsed like a body, within BOUNDS and in slices if it is long. Throws FetchError.
 */
export async function fetchJson(address: string, policy: EgressPolicy): Promise<unknown> {
  const objection = findUrlObjection(address, policy)
  if (objection !== undefined) throw new FetchError(`its address ${objection}`)
  const headers = { accept: 'application/json' }
  const response = await guardedGet(address, { headers, policy, ...LIMITS })
  if (!response.ok) throw new FetchError(REASONS[response.reason])
  if (response.isCut) throw new FetchError('it is larger than 512 KiB')
  if (response.status !== 200) throw new FetchError(`its host responded with status ${response.status}`)
  try {
    const { value } =
      parseJson(response.body, BOUNDS) ?? (await parseLongJson(response.body, BOUNDS, () => undefined))
    return value
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    throw new FetchError(
      error.code === 'request_too_large'
        ? 'it has too many values'
        : 'it is not JSON, or names a field twice',
    )
  }
}
