import { excerpt } from '@rideau/llm/request/bounded-excerpt'
import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import type { Caller } from '../tenancy/tenancy.ts'

const MAX_CHARS = 500
const MARK = '[key]'

/** What keys and tokens begin with, of providers and of this gateway. */
const NAMED_KEY =
  /\b(?:sk|rk|pk|rd_sk|rd_pk|rd_mk|gsk|xai|hf|nvapi|pplx|csk|fw|tgp|ghp)[-_][\w*.-]{6,}|\b(?:jina_|pa-|AIza|AKIA|ASIA|ABSK|ya29\.|eyJ)[\w*.+/=-]{12,}|\bBearer\s+\S+/gi
/** Long runs without a space may be keys of any other form. */
const LONG_RUN = /[\w+=-]{32,}/g
/** A provider that speaks of keys speaks of a failed authentication, whatever its status. */
const ABOUT_KEYS =
  /\bapi[ _-]?keys?\b|\baccess[ _-]tokens?\b|\bcredentials?\b|\bauthenticat|\bunauthorized\b/i

/** Causes by which a provider refuses the request itself. */
const REFUSALS: ReadonlySet<UpstreamError['kind']> = new Set([
  'bad_request',
  'context_length',
  'content_filter',
  'model_not_found',
])

/** True for secret keys and members, who own the provider's account; false for client tokens of end users. */
export function maySeeProviderMessage({ kind, keyId }: Pick<Caller, 'kind' | 'keyId'>): boolean {
  return kind === 'secret' || (kind === 'client_token' && keyId === null)
}

/**
 * Returns the provider's own message of a request that it refused: one line of at most 500 characters without anything
 * that looks like a key. undefined: it wrote none, or it refused the credential. The only way for a provider's words to a
 * caller or the log of requests; secrets that are known by their value must be removed before.
 */
export function toProviderMessage({ kind, status, message }: UpstreamError): string | undefined {
  if (message === undefined || !REFUSALS.has(kind) || status === 401 || status === 403) return undefined
  if (ABOUT_KEYS.test(message)) return undefined
  const line = message
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .replace(NAMED_KEY, MARK)
    .replace(LONG_RUN, run => (looksLikeKey(run) ? MARK : run))
  return line === '' ? undefined : excerpt(line, MAX_CHARS)
}

/** True for hexadecimal digits, and for a mix of digits with letters of both cases: names are rarely either. */
function looksLikeKey(run: string): boolean {
  if (/^[0-9a-f]+$/i.test(run)) return true
  return /[0-9]/.test(run) && /[a-z]/.test(run) && /[A-Z]/.test(run)
}
