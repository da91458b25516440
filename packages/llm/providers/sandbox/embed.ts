import { createHash } from 'node:crypto'
import type { Json, JsonObject } from '../../json/json-value.ts'
import { estimateTokens } from '../../usage/estimate.ts'

const DIMENSIONS = 64
const MAX_DIMENSIONS = 4096

/**
 * The sandbox's embeddings, in OpenAI's wire format. Each word counts in one place of the vector, so texts that share
 * words are near each other, as an app's search expects; the same text always gives the same vector, of length 1.
 */
export function answerEmbeddings(body: JsonObject): JsonObject {
  const inputs = Array.isArray(body.input) ? body.input : [body.input ?? '']
  const asked = typeof body.dimensions === 'number' ? body.dimensions : DIMENSIONS
  const dimensions = Math.min(MAX_DIMENSIONS, Math.max(1, Math.trunc(asked)))
  const texts = inputs.map(toText)
  const tokens = texts.reduce((sum, text) => sum + Math.max(1, estimateTokens(text)), 0)
  return {
    object: 'list',
    data: texts.map((text, index) => ({ object: 'embedding', index, embedding: embed(text, dimensions) })),
    model: 'embed',
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }
}

/** The numbers of tokens are words of their own. */
function toText(input: Json): string {
  return typeof input === 'string' ? input : Array.isArray(input) ? input.join(' ') : ''
}

function embed(text: string, dimensions: number): number[] {
  const vector: number[] = Array.from({ length: dimensions }, () => 0)
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['']) {
    const digest = createHash('sha256').update(word).digest()
    const place = digest.readUInt32LE(0) % dimensions
    vector[place] = (vector[place] as number) + ((digest[4] as number) & 1 ? 1 : -1)
  }
  // Words of opposite sign in one place may leave nothing, and nothing has no direction.
  if (!vector.some(value => value !== 0)) vector[0] = 1
  const norm = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  return vector.map(value => value / norm)
}
