import { parseUrl } from '@rideau/llm/request/bounded-url'
import { Agent, request } from 'undici'
import { ReceivedChunks } from '../body/received-chunks.ts'
import { toOwned } from '../body/to-owned.ts'
import { assertAllowedOrigin, createGuardedConnector, EgressError, type EgressPolicy } from './egress.ts'
import { toUpstreamHeaders } from './upstream-headers.ts'

export interface GuardedOptions {
  /** Default: GET. */
  readonly method?: 'GET' | 'POST'
  readonly body?: string
  readonly headers: Readonly<Record<string, string>>
  readonly policy: EgressPolicy
  /** Bounds the whole request, from the name lookup to the last byte. */
  readonly timeoutMs: number
  /** Ends the request early; it then counts as timed out. */
  readonly signal?: AbortSignal
  /** Limit of the response body; a larger body is dropped and `isCut` is true. */
  readonly maxBytes: number
  /** Called with the length of each chunk of the answer; false: there is no room for it, so that the answer is cut. */
  readonly accept?: (bytes: number) => boolean
}

export type GuardedAnswer =
  | {
      readonly ok: true
      readonly status: number
      /** The Location header of a 3xx; empty if it has none. */
      readonly location: string
      /** The Cache-Control header; empty if there is none. */
      readonly cacheControl: string
      readonly body: Buffer
      readonly isCut: boolean
    }
  | { readonly ok: false; readonly reason: 'refused' | 'timeout' | 'unreachable' }

/**
 * Makes one request to a URL that a tenant configured, through the egress guard. Redirects are not followed: a 3xx is
 * returned as it is. Never rejects, and returns no detail of a connection failure.
 */
export async function guardedRequest(url: string, options: GuardedOptions): Promise<GuardedAnswer> {
  const { policy, timeoutMs, maxBytes, headers, method = 'GET', body, accept = () => true } = options
  const dispatcher = new Agent({ connect: createGuardedConnector(policy, timeoutMs), pipelining: 0 })
  const limit = AbortSignal.timeout(timeoutMs)
  const signal = options.signal === undefined ? limit : AbortSignal.any([limit, options.signal])
  try {
    const target = parseUrl(url)
    if (target === undefined) return { ok: false, reason: 'unreachable' }
    assertAllowedOrigin(target.origin, policy)
    const answer = await request(target, {
      dispatcher,
      signal,
      method,
      headers: toUpstreamHeaders(headers),
      ...(body === undefined ? {} : { body }),
    })
    const { location = '', 'cache-control': cacheControl = '' } = answer.headers
    const head = {
      ok: true,
      status: answer.statusCode,
      location: String(location),
      cacheControl: String(cacheControl),
    } as const
    const chunks = new ReceivedChunks()
    for await (const chunk of answer.body) {
      chunks.add(toOwned(chunk as Buffer))
      if (chunks.size > maxBytes || !accept((chunk as Buffer).length))
        return { ...head, body: Buffer.alloc(0), isCut: true }
    }
    return { ...head, body: await chunks.join(), isCut: false }
  } catch (error) {
    if (isEgressError(error)) return { ok: false, reason: 'refused' }
    return { ok: false, reason: signal.aborted || isTimeout(error) ? 'timeout' : 'unreachable' }
  } finally {
    await dispatcher.destroy()
  }
}

function isEgressError(error: unknown): boolean {
  return error instanceof EgressError || (error instanceof Error && error.cause instanceof EgressError)
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'UND_ERR_CONNECT_TIMEOUT'
}
