import type { UpstreamError, UpstreamErrorKind } from '@rideau/llm/upstream/upstream-error'
import { guardedRequest } from '../http/guarded-request.ts'
import type { ExchangeOptions, TokenAnswer } from './token-exchange.ts'

const TIMEOUT_MS = 10_000
const MAX_ANSWER_BYTES = 64 * 1024
const MAX_DETAIL = 200
/** Where the answer names no lifetime. */
const DEFAULT_LIFETIME_S = 3600

/** Posts a form to an OAuth token endpoint (RFC 6749 §4, §5) and reads its answer. */
export async function askToken(
  tokenUrl: string,
  form: Readonly<Record<string, string>>,
  { policy, now }: ExchangeOptions,
): Promise<TokenAnswer> {
  const answer = await guardedRequest(tokenUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams(form).toString(),
    policy,
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_ANSWER_BYTES,
  })
  if (!answer.ok) {
    return refusal(
      answer.reason === 'timeout' ? 'timeout' : 'unavailable',
      `token endpoint: ${answer.reason}`,
    )
  }
  const body = answer.isCut ? undefined : parseObject(answer.body)
  if (answer.status >= 200 && answer.status < 300) {
    const token = body?.access_token
    if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
      return refusal('unavailable', 'the token endpoint answered without a token')
    }
    const seconds = Number(body?.expires_in)
    const lifetime = Number.isFinite(seconds) && seconds > 0 ? seconds : DEFAULT_LIFETIME_S
    return { ok: true, value: { token, expiresAt: now + lifetime * 1000 } }
  }
  const words = [body?.error, body?.error_description].filter(word => typeof word === 'string').join(': ')
  return {
    ok: false,
    error: {
      kind: toKind(answer.status),
      status: answer.status,
      detail: `token endpoint: ${words === '' ? answer.status : words}`.slice(0, MAX_DETAIL),
    },
  }
}

/** RFC 6749 §5.2: whatever is wrong with the credential is a 400 or a 401. */
function toKind(status: number): UpstreamErrorKind {
  if (status === 429) return 'rate_limited'
  return status >= 500 || status < 400 ? 'unavailable' : 'auth'
}

export function refusal(kind: UpstreamErrorKind, detail: string): { ok: false; error: UpstreamError } {
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
