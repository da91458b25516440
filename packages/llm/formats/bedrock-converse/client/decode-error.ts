import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toText } from '../../../json/json-value.ts'
import type { UpstreamError, UpstreamErrorKind } from '../../../upstream/upstream-error.ts'
import { canHaveCause } from '../../shared/errors/classify-error.ts'
import { decodeErrorBody } from '../../shared/errors/decode-error.ts'
import type { ReplyHeaders } from '../../shared/errors/retry-after.ts'

interface Cause {
  readonly kind: UpstreamErrorKind
  /** Names of exceptions, in lower case and without `exception` at the end. */
  readonly names?: readonly string[]
  readonly message?: RegExp
}

/**
 * Causes by the exception's name or message, the narrower first. If none matches, the general classification decides. Every
 * expression takes linear time.
 */
const CAUSES: readonly Cause[] = [
  {
    kind: 'context_length',
    message:
      /input is too long|input tokens exceeded|too many input tokens|prompt is too long|exceeds? the (?:maximum )?(?:context|number of tokens)/i,
  },
  {
    kind: 'model_not_found',
    message:
      /model identifier is invalid|on-demand throughput isn.t supported|access to the model with the specified model id|reached the end of its life|marked by provider as legacy|not resolve the foundation model/i,
  },
  { kind: 'model_not_found', names: ['resourcenotfound'] },
  { kind: 'quota', names: ['servicequotaexceeded'] },
  // The tokens of a day or a minute are used up: waiting or another target helps.
  { kind: 'rate_limited', names: ['throttling', 'toomanyrequests'] },
  { kind: 'overloaded', names: ['serviceunavailable', 'modelnotready'] },
  { kind: 'timeout', names: ['modeltimeout'] },
  { kind: 'unavailable', names: ['internalserver', 'internalfailure', 'modelerror', 'modelstreamerror'] },
  {
    kind: 'auth',
    names: [
      'accessdenied',
      'expiredtoken',
      'incompletesignature',
      'invalidclienttokenid',
      'invalidsignature',
      'missingauthenticationtoken',
      'notauthorized',
      'optinrequired',
      'requestexpired',
      'signaturedoesnotmatch',
      'unrecognizedclient',
    ],
  },
]

/** Exceptions that are failures of the provider's own, and the status that each stands for: within a stream they have no other. */
const FAILURES: ReadonlyMap<string, number> = new Map([
  ['internalserver', 500],
  ['internalfailure', 500],
  ['serviceunavailable', 503],
])

/** The status of each cause, for other exceptions within a stream. */
const STATUSES: Readonly<Partial<Record<UpstreamErrorKind, number>>> = {
  rate_limited: 429,
  overloaded: 503,
  timeout: 408,
  unavailable: 500,
  auth: 403,
  model_not_found: 404,
}

/** Classifies an answer that is not 2xx. The exception's name is in a header; the body has only a message. */
export function decodeError(status: number, headers: ReplyHeaders, body: string): UpstreamError {
  const header = headers['x-amzn-errortype']
  return decodeNamed((Array.isArray(header) ? header[0] : header) ?? '', parse(body), headers, status)
}

/** Classifies an exception within a stream by its name and payload. */
export function decodeException(name: string, data: string): UpstreamError {
  return decodeNamed(name, parse(data), {}, undefined)
}

function decodeNamed(
  given: string,
  body: Json,
  headers: ReplyHeaders,
  received: number | undefined,
): UpstreamError {
  const object: JsonObject = toObject(body) ?? { message: toText(body) ?? '' }
  // `ThrottlingException:http://internal.amazon.com/…`, or `com.amazon.coral.service#ThrottlingException` in the body.
  const name = (given || toText(object.__type) || '').split(':')[0]?.split('#').at(-1) ?? ''
  // For a wrong signature AWS adds the text that it expected to be signed, with the session token, on further lines.
  const message = (toText(object.message) ?? toText(object.Message) ?? '').split('\n', 1)[0] ?? ''
  const plainName = name.toLowerCase().replace(/exception$/, '')
  const status = received ?? FAILURES.get(plainName)
  const base = decodeErrorBody(status, headers, { message, code: name })
  const cause = CAUSES.find(
    cause =>
      canHaveCause(status, cause.kind) &&
      (cause.names?.includes(plainName) === true || cause.message?.test(message.slice(0, 2000)) === true),
  )
  if (cause === undefined && status !== undefined) return base
  const kind = cause?.kind ?? (/^validation/i.test(name) ? 'bad_request' : base.kind)
  const knownStatus = status ?? STATUSES[kind]
  return { ...base, kind, ...(knownStatus === undefined ? {} : { status: knownStatus }) }
}

function parse(body: string): Json {
  try {
    return JSON.parse(body) as Json
  } catch {
    return body.trim()
  }
}
