import { isHeaderText } from '../../http/header-text.ts'
import type { RequestContext } from '../request/request-context.ts'

/** What a browser's script may read of an answer besides the body. */
const EXPOSED = [
  'X-Request-Id',
  'request-id',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  'X-Rideau-Provider',
  'X-Rideau-Model',
  'X-Rideau-Attempts',
].join(', ')

const PREFLIGHT_SECONDS = 600

/** Headers for a call from a browser, as name, value…; nothing for one without `Origin`. */
export function corsHeaders(ctx: RequestContext): readonly string[] {
  const { origin } = ctx.req.headers
  // No browser sends another. Encoded or cut it would name another origin.
  if (origin === undefined || !isHeaderText(origin)) return []
  return ['Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', EXPOSED, 'Vary', 'Origin']
}

/**
 * Answers a preflight. It carries no credential, so it decides nothing: whether the origin may call is checked on the
 * call itself, by the key's project.
 */
export function preflightHeaders(origin: string | undefined, requested: string | undefined): string[] {
  return [
    'Access-Control-Allow-Origin',
    origin !== undefined && isHeaderText(origin) ? origin : '*',
    'Access-Control-Allow-Methods',
    'GET, POST, OPTIONS',
    'Access-Control-Allow-Headers',
    requested !== undefined && isHeaderText(requested)
      ? requested
      : 'Authorization, Content-Type, Idempotency-Key, X-Request-Id',
    'Access-Control-Max-Age',
    String(PREFLIGHT_SECONDS),
    'Vary',
    'Origin, Access-Control-Request-Headers',
  ]
}
