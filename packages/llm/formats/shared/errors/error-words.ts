import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toArray, toJsonText, toObject, toText } from '../../../json/json-value.ts'

const MAX_PROBLEMS = 3

/** The fields of a provider's error, from any of the envelopes that providers use. */
export interface ErrorWords {
  readonly message: string
  /** The message where the provider wrote one as a text: nothing of its body's form. */
  readonly text: string | undefined
  /** `code`, `type`, `status` and the like: everything that names the cause rather than describes it. */
  readonly names: readonly string[]
  /** A status that the body itself tells. */
  readonly status: number | undefined
  /** `retryDelay` of the body's details. */
  readonly retryDelay: string | undefined
}

export function readErrorWords(body: Json): ErrorWords {
  // Some wrap the envelope in an array.
  const outer = Array.isArray(body) ? body[0] : body
  if (typeof outer === 'string')
    return { message: outer, text: undefined, names: [], status: undefined, retryDelay: undefined }
  const envelope = toObject(outer) ?? {}
  const inner = toObject(envelope.error) ?? toObject(envelope.message) ?? envelope
  const text =
    toText(inner.message) ??
    toText(envelope.message) ??
    readProblems(inner.detail) ??
    readProblems(envelope.detail) ??
    toText(envelope.error)
  const message =
    toText(inner.message) ??
    toText(envelope.message) ??
    readDetail(inner.detail) ??
    readDetail(envelope.detail) ??
    toText(envelope.error) ??
    toJsonText(outer ?? '')
  const metadata = toObject(inner.metadata)
  const innerError = toObject(inner.innererror) ?? toObject(inner.inner_error)
  const names = [
    inner.code,
    inner.type,
    inner.status,
    inner.error_type,
    metadata?.error_type,
    innerError?.code,
    envelope.code,
    envelope.error_type,
    envelope.error,
  ]
  const extra = toText(metadata?.raw)
  return {
    message: extra === undefined ? message : `${message} ${extra}`,
    text,
    names: [...new Set(names.filter(name => typeof name === 'string' && name !== message))] as string[],
    status: [inner.code, inner.status, inner.status_code, envelope.code, envelope.status].find(isStatus),
    retryDelay: readRetryDelay(inner),
  }
}

function isStatus(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 400 && value < 600
}

/** A text, or a validator's list of `{ loc, msg }`. */
function readDetail(detail: Json | undefined): string | undefined {
  if (typeof detail === 'string') return toText(detail)
  return Array.isArray(detail) || toObject(detail) !== undefined ? toJsonText(detail ?? null) : undefined
}

/** A text, or of a validator's list of `{ loc, msg }` the first problems as texts. */
function readProblems(detail: Json | undefined): string | undefined {
  if (!Array.isArray(detail)) return toText(detail)
  const problems = detail.slice(0, MAX_PROBLEMS).flatMap(value => {
    const problem = toObject(value)
    const words = toText(problem?.msg)
    if (words === undefined) return []
    const path = toArray(problem?.loc).filter(part => typeof part === 'string' || typeof part === 'number')
    return path.length === 0 ? words : `${path.join('.')}: ${words}`
  })
  return problems.length === 0 ? undefined : problems.join('; ')
}

function readRetryDelay(error: JsonObject): string | undefined {
  for (const item of toArray(error.details)) {
    const delay = toText(toObject(item)?.retryDelay)
    if (delay !== undefined) return delay
  }
  return undefined
}
