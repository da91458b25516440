import { Client } from 'undici'
import { createGuardedConnector, EgressError, type EgressPolicy } from '../http/egress.ts'
import { findUrlObjection } from '../http/outgoing-url.ts'

const DEADLINE_MS = 5_000
const MAX_BYTES = 512 * 1024

/** Why a document could not be had. The message is public: it tells nothing of what the other side answered. */
export class FetchError extends Error {
  override readonly name = 'FetchError'
}

/**
 * A JSON document from an address that a customer named: through the egress guard, without redirects, at most 512 KiB
 * in at most 5 s. Such documents are asked for rarely, so that each has a connection of its own.
 */
export async function fetchJson(address: string, policy: EgressPolicy): Promise<unknown> {
  const objection = findUrlObjection(address, policy)
  if (objection !== undefined) throw new FetchError(`its address ${objection}`)
  const url = new URL(address)
  const client = new Client(url.origin, {
    connect: createGuardedConnector(policy, DEADLINE_MS),
    maxResponseSize: MAX_BYTES,
  })
  try {
    const { statusCode, body } = await client.request({
      path: `${url.pathname}${url.search}`,
      method: 'GET',
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(DEADLINE_MS),
    })
    const text = await body.text()
    if (statusCode !== 200) throw new FetchError(`it answered with status ${statusCode}`)
    return parseJson(text)
  } catch (error) {
    throw toFetchError(error)
  } finally {
    await client.destroy()
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new FetchError('it is not JSON')
  }
}

function toFetchError(error: unknown): FetchError {
  if (error instanceof FetchError) return error
  const { name, code, cause } = error as { name?: string; code?: string; cause?: unknown }
  if (error instanceof EgressError || cause instanceof EgressError) {
    return new FetchError('its address is not allowed')
  }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return new FetchError('it is larger than 512 KiB')
  if (name === 'TimeoutError' || code === 'UND_ERR_CONNECT_TIMEOUT') {
    return new FetchError('it did not come within 5 seconds')
  }
  return new FetchError('its host could not be reached')
}
