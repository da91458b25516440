import { RideauApiError, RideauConnectionError, RideauError, readApiError } from './errors.ts'
import { createUuid } from './runtime.ts'
import type { Credential, Fetch, Transport } from './transport.ts'

/** The part of `fetch` that the OpenAI client and others of its kind use. */
export type GatewayFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/**
 * Returns a `fetch` that adds the credential, one Idempotency-Key and the retries. It throws a RideauError for an address of
 * another host: a token must not leave for it. An answer with an error is returned, as fetch does, after the last attempt.
 */
export function createGatewayFetch(
  transport: Transport,
  credential: Credential,
  gatewayUrl: string,
): GatewayFetch {
  return async (input, init = {}) => {
    const url = typeof input === 'string' ? input : input instanceof URL ? input.href : input.url
    if (!url.startsWith(`${gatewayUrl}/`)) {
      throw new RideauError(`The address must begin with ${gatewayUrl}/; got ${url}.`)
    }
    const isRequest = typeof input === 'object' && !(input instanceof URL)
    const headers = new Headers(init.headers ?? (isRequest ? input.headers : undefined))
    const method = init.method ?? (isRequest ? input.method : 'GET')
    const hasBody = isRequest && !/^(GET|HEAD)$/i.test(method)
    // The body of a Request is a stream: it is read once so that it can be sent again.
    const body = init.body ?? (hasBody ? await input.arrayBuffer() : undefined)
    if (method.toUpperCase() === 'POST' && !headers.has('idempotency-key')) {
      headers.set('idempotency-key', createUuid(transport.runtime.random))
    }
    const signal = init.signal ?? (isRequest ? input.signal : undefined)
    const isReplayable = !(typeof ReadableStream !== 'undefined' && body instanceof ReadableStream)
    const options = isReplayable ? { signal } : { signal, maxRetries: 0 }
    let refused: Response | undefined
    try {
      return await transport.attempt(isReplayable ? credential : once(credential), options, async token => {
        headers.set('authorization', `Bearer ${token}`)
        const request: RequestInit = { ...init, method, headers }
        if (body !== undefined) request.body = body
        if (signal !== undefined) request.signal = signal
        const response = await send(transport.fetch, url, request)
        if (response.ok) return response
        refused = response
        throw await readApiError(response.clone())
      })
    } catch (error) {
      if (refused !== undefined && error instanceof RideauApiError) return refused
      throw error
    }
  }
}

/** A body that is a stream cannot be sent again with another token. */
function once(credential: Credential): Credential {
  return {
    get: signal => credential.get(signal),
    drop: token => {
      credential.drop(token)
      return false
    },
  }
}

async function send(fetch: Fetch, url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (cause) {
    if (init.signal?.aborted === true) throw cause
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new RideauConnectionError(`The connection failed: ${message}`, { cause })
  }
}
