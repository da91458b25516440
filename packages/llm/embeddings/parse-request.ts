import type { Findings } from '../formats/shared/findings.ts'
import {
  invalid,
  optionalChoice,
  optionalNumber,
  optionalText,
  refuseUnknown,
  set,
  textAt,
} from '../formats/shared/read-fields.ts'
import { refuseReservedFields } from '../formats/shared/reserved-fields.ts'
import { findStored } from '../formats/shared/stored-fields.ts'
import type { Json, JsonObject } from '../json/json-value.ts'
import type { EmbeddingInput, EmbeddingRequest } from './embedding-format.ts'

/** An embeddings body, read once. */
export interface ParsedEmbeddings {
  readonly request: EmbeddingRequest
  /** As a secret key's body names it, not checked yet (name-end-user.ts); a client token's end user is its own. */
  readonly endUser: Json | undefined
  readonly findings: Pick<Findings, 'stored' | 'passedOn'>
}

const NATIVE: ReadonlySet<string> = new Set([
  'model',
  'input',
  'dimensions',
  'encoding_format',
  'input_type',
  'end_user',
])
const COMPAT: ReadonlySet<string> = new Set([
  'model',
  'input',
  'dimensions',
  'encoding_format',
  'input_type',
  'user',
])
const MAX_INPUTS = 2048
const DIMENSIONS = { min: 1, integer: true }

/** `POST /v1/embeddings`: fields that it does not know are refused. */
export function parseNativeEmbedding(body: JsonObject): ParsedEmbeddings {
  refuseUnknown(body, NATIVE)
  return {
    request: parse(body, parseTexts(body.input)),
    endUser: optionalText(body, 'end_user'),
    findings: { stored: undefined, passedOn: undefined },
  }
}

/** `POST {prefix}/v1/embeddings` in OpenAI's own shape: also tokens, and unknown fields are passed on. `isEndUser`: see Findings. */
export function parseCompatEmbedding(body: JsonObject, isEndUser: boolean): ParsedEmbeddings {
  refuseReservedFields(body, COMPAT)
  const request: Mutable<EmbeddingRequest> = parse(body, parseTokens(body.input) ?? parseTexts(body.input))
  set(request, 'user', optionalText(body, 'user'))
  const rest = Object.entries(body).filter(([name]) => !COMPAT.has(name))
  if (rest.length > 0) request.rest = Object.fromEntries(rest)
  return {
    request,
    endUser: body.end_user,
    findings: { stored: isEndUser ? findStored(body) : undefined, passedOn: rest[0]?.[0] },
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

function parse(body: JsonObject, input: EmbeddingInput): EmbeddingRequest {
  const model = textAt(body.model, 'model')
  if (model === '') throw invalid('model', 'must not be empty.')
  const request: Mutable<EmbeddingRequest> = {
    model,
    input,
    encoding: optionalChoice(body, 'encoding_format', ['float', 'base64']) ?? 'float',
  }
  set(request, 'dimensions', optionalNumber(body, 'dimensions', DIMENSIONS))
  set(request, 'inputType', optionalText(body, 'input_type'))
  return request
}

function parseTexts(input: Json | undefined): readonly string[] {
  if (typeof input === 'string') return [input]
  if (!Array.isArray(input)) throw invalid('input', 'must be a string or a list of strings.')
  checkCount(input.length)
  return input.map((text, index) => textAt(text, `input[${index}]`))
}

/** undefined: not tokens. One list of numbers is one input. */
function parseTokens(input: Json | undefined): readonly (readonly number[])[] | undefined {
  if (!Array.isArray(input) || input.length === 0) return undefined
  if (input.every(isToken)) return [input]
  if (!Array.isArray(input[0])) return undefined
  checkCount(input.length)
  return input.map((tokens, index) => {
    if (Array.isArray(tokens) && tokens.length > 0 && tokens.every(isToken)) return tokens
    throw invalid(`input[${index}]`, 'must be a list of token numbers, as the first one is.')
  })
}

function isToken(value: Json): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function checkCount(count: number): void {
  if (count < 1 || count > MAX_INPUTS) throw invalid('input', `must have 1 to ${MAX_INPUTS} entries.`)
}
