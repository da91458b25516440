import {
  assertKnownFields,
  invalid,
  optionalChoice,
  optionalNumber,
  optionalText,
  set,
  textAt,
} from '../formats/shared/reading/read-fields.ts'
import type { Findings } from '../formats/shared/requests/findings.ts'
import { assertNoReservedFields } from '../formats/shared/requests/reserved-fields.ts'
import { findStored } from '../formats/shared/requests/stored-fields.ts'
import type { Json, JsonObject } from '../json/json-value.ts'
import type { EmbeddingInput, EmbeddingRequest } from './embedding-format.ts'

/** An embeddings body, read once. */
export interface ParsedEmbeddings {
  readonly request: EmbeddingRequest
  /** The end user that a secret key's body names, not yet checked (name-end-user.ts); a client token's end user is its own. */
  readonly endUser: Json | undefined
  readonly findings: Pick<Findings, 'stored' | 'passedOn'>
  /** Fields that the gateway does not know and no provider gets. Absent: such fields were refused, or are passed on. */
  readonly unknownFields?: readonly string[]
}

export type MutableEmbedding = { -readonly [K in keyof EmbeddingRequest]: EmbeddingRequest[K] }

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
  'end_user',
])
const MAX_INPUTS = 2048
export const DIMENSIONS = { min: 1, integer: true }

/** `POST /v1/embeddings`: fields that it does not know are refused. */
export function parseNativeEmbedding(body: JsonObject): ParsedEmbeddings {
  assertKnownFields(body, NATIVE)
  return {
    request: parse(body, parseTexts(body.input)),
    endUser: optionalText(body, 'end_user'),
    findings: { stored: undefined, passedOn: undefined },
  }
}

/** `POST {prefix}/v1/embeddings` in OpenAI's own shape: also tokens, and unknown fields are passed on. `isEndUser`: see Findings. */
export function parseCompatEmbedding(body: JsonObject, isEndUser: boolean): ParsedEmbeddings {
  assertNoReservedFields(body, COMPAT)
  const request: MutableEmbedding = parse(body, parseTokens(body.input) ?? parseTexts(body.input))
  set(request, 'user', optionalText(body, 'user'))
  const rest = Object.entries(body).filter(([name, value]) => !COMPAT.has(name) && value !== null)
  if (rest.length > 0) request.rest = Object.fromEntries(rest)
  return {
    request,
    endUser: body.end_user,
    findings: { stored: isEndUser ? findStored(body) : undefined, passedOn: rest[0]?.[0] },
  }
}

function parse(body: JsonObject, input: EmbeddingInput): EmbeddingRequest {
  const model = textAt(body.model, 'model')
  if (model === '') throw invalid('model', 'must not be empty.')
  const request: MutableEmbedding = {
    model,
    input,
    encoding: optionalChoice(body, 'encoding_format', ['float', 'base64']) ?? 'float',
  }
  set(request, 'dimensions', optionalNumber(body, 'dimensions', DIMENSIONS))
  set(request, 'inputType', optionalText(body, 'input_type'))
  return request
}

export function parseTexts(input: Json | undefined, path = 'input'): readonly string[] {
  if (typeof input === 'string') return [input]
  if (!Array.isArray(input)) throw invalid(path, 'must be a string or a list of strings.')
  assertCount(input.length, path)
  return input.map((text, index) => textAt(text, `${path}[${index}]`))
}

/** undefined: not tokens. One list of numbers is one input. */
function parseTokens(input: Json | undefined): readonly (readonly number[])[] | undefined {
  if (!Array.isArray(input) || input.length === 0) return undefined
  if (input.every(isToken)) return [input]
  if (!Array.isArray(input[0])) return undefined
  assertCount(input.length, 'input')
  return input.map((tokens, index) => {
    if (Array.isArray(tokens) && tokens.length > 0 && tokens.every(isToken)) return tokens
    throw invalid(`input[${index}]`, 'must be a list of token numbers, as the first one is.')
  })
}

function isToken(value: Json): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** Refuses a list of no inputs, or of too many. */
export function assertCount(count: number, path: string): void {
  if (count < 1 || count > MAX_INPUTS) throw invalid(path, `must have 1 to ${MAX_INPUTS} entries.`)
}
