import { isHeaderText } from '../../http/answer/header-text.ts'
import type { RequestContext } from '../request/request-context.ts'

/** Response headers that a browser's script may read. */
const EXPOSED = [
  'X-Request-Id',
  'request-id',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-tokens',
  'x-should-retry',
  'Idempotent-Replayed',
  'X-Rideau-Dropped-Params',
  'X-Rideau-Emulated-Params',
  'X-Rideau-Output-Cap',
  'X-Rideau-Provider',
  'X-Rideau-Model',
  'X-Rideau-Attempts',
].join(', ')

const PREFLIGHT_SECONDS = 600

/** Returns the CORS headers of an answer as [name, value, ...]. Empty for a request without `Origin`. */
export function corsHeaders(ctx: RequestContext): readonly string[] {
  const { origin } = ctx.req.headers
  // Browsers never send such an origin, and encoding or cutting it would name another origin.
  if (origin === undefined || !isHeaderText(origin)) return []
  return ['Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', EXPOSED, 'Vary', 'Origin']
}

/**
 * Returns the headers of an answer to a preflight. Preflights carry no credential, so any origin is allowed here. The
 * call itself checks the origin against the project of its key.
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
