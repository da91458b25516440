import type { Json, JsonObject } from '../../json/json-value.ts'
import { estimateTokens } from '../../usage/estimate.ts'
import { errorReply, reply, type SandboxAnswer } from './sandbox-answer.ts'

const DIMENSIONS = 64
const MAX_DIMENSIONS = 4096
/** The most characters of all inputs together that are read, and numbers of all vectors. They are made in one go, while all other requests wait. */
const READ_CHARACTERS = 128 * 1024
const MAX_NUMBERS = 128 * 1024

/**
 * The sandbox's embeddings, in OpenAI's wire format. Each word counts in one place of the vector, so texts that share
 * words are near each other, as an app's search expects; the same text always gives the same vector, of length 1.
 */
export function answerEmbeddings(body: JsonObject): SandboxAnswer {
  const inputs = Array.isArray(body.input) ? body.input : [body.input ?? '']
  const requested = typeof body.dimensions === 'number' ? body.dimensions : DIMENSIONS
  const dimensions = Math.min(MAX_DIMENSIONS, Math.max(1, Math.trunc(requested)))
  if (inputs.length * dimensions > MAX_NUMBERS) {
    return errorReply(
      400,
      'invalid_request_error',
      `All vectors together must have at most ${MAX_NUMBERS} numbers.`,
    )
  }
  const share = Math.ceil(READ_CHARACTERS / inputs.length)
  const tokens = inputs.reduce((sum: number, input) => sum + Math.max(1, countTokens(input)), 0)
  return reply({
    object: 'list',
    data: inputs.map((input, index) => ({
      object: 'embedding',
      index,
      embedding: embed(toText(input, share), dimensions),
    })),
    model: 'embed',
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  })
}

function countTokens(input: Json): number {
  if (Array.isArray(input)) return input.length
  return typeof input === 'string' ? estimateTokens(input) : 0
}

/** Returns at most `characters` characters of the input. Each number of a token becomes a word. */
function toText(input: Json, characters: number): string {
  if (Array.isArray(input)) return input.slice(0, Math.ceil(characters / 6)).join(' ')
  return typeof input === 'string' ? input.slice(0, characters) : ''
}

function embed(text: string, dimensions: number): number[] {
  const vector: number[] = Array.from({ length: dimensions }, () => 0)
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['']) {
    const hash = hashWord(word)
    const place = (hash >>> 1) % dimensions
    vector[place] = (vector[place] as number) + (hash & 1 ? 1 : -1)
  }
  // Words of opposite sign in one place may leave nothing, and nothing has no direction.
  if (!vector.some(value => value !== 0)) vector[0] = 1
  const norm = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  return vector.map(value => value / norm)
}

/** FNV-1a, mixed once more so that every bit depends on every character. */
function hashWord(word: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
