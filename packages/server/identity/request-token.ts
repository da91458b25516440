import type { UpstreamError, UpstreamErrorKind } from '@rideau/llm/upstream/upstream-error'
import { guardedRequest } from '../http/egress/guarded-request.ts'
import type { ExchangeOptions, TokenResult } from './token-exchange.ts'

const TIMEOUT_MS = 10_000
const MAX_RESPONSE_BYTES = 64 * 1024
const MAX_DETAIL_LENGTH = 200
/** For a response without `expires_in`. */
const DEFAULT_LIFETIME_S = 3600

/** The access token that an OAuth token endpoint returns for a form (RFC 6749, sections 4 and 5). Never rejects. */
export async function requestToken(
  tokenUrl: string,
  form: Readonly<Record<string, string>>,
  { policy, now }: ExchangeOptions,
): Promise<TokenResult> {
  const response = await guardedRequest(tokenUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams(form).toString(),
    policy,
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_RESPONSE_BYTES,
  })
  if (!response.ok) {
    const kind = response.reason === 'timeout' ? 'timeout' : 'unavailable'
    return toFailure(kind, `token endpoint: ${response.reason}`)
  }
  const body = response.isCut ? undefined : parseObject(response.body)
  if (response.status >= 200 && response.status < 300) {
    const token = body?.access_token
    if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
      return toFailure('unavailable', 'the token endpoint returned no access_token')
    }
    const seconds = Number(body?.expires_in)
    const lifetime = Number.isFinite(seconds) && seconds > 0 ? seconds : DEFAULT_LIFETIME_S
    return { ok: true, value: { token, expiresAt: now + lifetime * 1000 } }
  }
  const reason = [body?.error, body?.error_description].filter(part => typeof part === 'string').join(': ')
  return {
    ok: false,
    error: {
      kind: toErrorKind(response.status),
      status: response.status,
      detail: `token endpoint: ${reason === '' ? response.status : reason}`.slice(0, MAX_DETAIL_LENGTH),
    },
  }
}

/** RFC 6749, section 5.2: a wrong credential is a 400 or a 401. */
function toErrorKind(status: number): UpstreamErrorKind {
  if (status === 429) return 'rate_limited'
  return status >= 500 || status < 400 ? 'unavailable' : 'auth'
}

/** A failed exchange. `detail` repeats no secret. */
export function toFailure(kind: UpstreamErrorKind, detail: string): { ok: false; error: UpstreamError } {
  return { ok: false, error: { kind, detail } }
}

function parseObject(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
