import { Agent, request } from 'undici'
import { checkOrigin, createGuardedConnector, EgressError, type EgressPolicy } from './egress.ts'
import { toUpstreamHeaders } from './upstream-headers.ts'

export interface GuardedOptions {
  /** Default GET. */
  readonly method?: 'GET' | 'POST'
  readonly body?: string
  readonly headers: Readonly<Record<string, string>>
  readonly policy: EgressPolicy
  /** For everything, from the look-up of the name to the last byte. */
  readonly timeoutMs: number
  /** Of the body; a larger one is cut off. */
  readonly maxBytes: number
}

export type GuardedAnswer =
  | {
      readonly ok: true
      readonly status: number
      /** Where a 3xx leads; empty where it says nothing. */
      readonly location: string
      readonly body: Buffer
      readonly isCut: boolean
    }
  | { readonly ok: false; readonly reason: 'refused' | 'timeout' | 'unreachable' }

/**
 * One request to an address that a tenant named, through the egress guard. Redirects are not followed: a 3xx is an
 * answer. Never rejects; what a host's failure says of it stays here.
 */
export async function guardedRequest(url: string, options: GuardedOptions): Promise<GuardedAnswer> {
  const { policy, timeoutMs, maxBytes, headers, method = 'GET', body } = options
  const dispatcher = new Agent({ connect: createGuardedConnector(policy, timeoutMs), pipelining: 0 })
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    checkOrigin(new URL(url).origin, policy)
    const answer = await request(url, {
      dispatcher,
      signal,
      method,
      headers: toUpstreamHeaders(headers),
      ...(body === undefined ? {} : { body }),
    })
    const { location = '' } = answer.headers
    const head = { ok: true, status: answer.statusCode, location: String(location) } as const
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of answer.body) {
      size += (chunk as Buffer).length
      if (size > maxBytes) return { ...head, body: Buffer.alloc(0), isCut: true }
      chunks.push(chunk as Buffer)
    }
    return { ...head, body: Buffer.concat(chunks), isCut: false }
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
