import type { EgressPolicy } from '../http/egress.ts'
import { guardedGet } from '../http/guarded-get.ts'
import { findUrlObjection } from '../http/outgoing-url.ts'

/** Why a document could not be had. The message is public: it tells nothing of what the other side answered. */
export class FetchError extends Error {
  override readonly name = 'FetchError'
}

const LIMITS = { timeoutMs: 5_000, maxBytes: 512 * 1024 }

const REASONS = {
  refused: 'its address is not allowed',
  timeout: 'it did not come within 5 seconds',
  unreachable: 'its host could not be reached',
}

/** A JSON document from an address that a customer named, without redirects. Throws FetchError. */
export async function fetchJson(address: string, policy: EgressPolicy): Promise<unknown> {
  const objection = findUrlObjection(address, policy)
  if (objection !== undefined) throw new FetchError(`its address ${objection}`)
  const headers = { accept: 'application/json' }
  const answer = await guardedGet(address, { headers, policy, ...LIMITS })
  if (!answer.ok) throw new FetchError(REASONS[answer.reason])
  if (answer.isCut) throw new FetchError('it is larger than 512 KiB')
  if (answer.status !== 200) throw new FetchError(`it answered with status ${answer.status}`)
  try {
    return JSON.parse(answer.body.toString('utf8'))
  } catch {
    throw new FetchError('it is not JSON')
  }
}
