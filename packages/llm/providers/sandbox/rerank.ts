import type { Json, JsonObject } from '../../json/json-value.ts'
import { estimateTokens } from '../../usage/estimate.ts'

/** The most characters of all documents together that are read. They are read in one go, while all other requests wait. */
const READ_CHARACTERS = 512 * 1024

/** The sandbox's rerank answer: a document scores by the share of the query's words that it has. */
export function answerRerank(body: JsonObject): JsonObject {
  const documents = Array.isArray(body.documents) ? body.documents : []
  const share = Math.ceil(READ_CHARACTERS / Math.max(1, documents.length))
  const words = [...new Set(toWords(body.query, READ_CHARACTERS))]
  const scored = documents.map((document, index) => {
    const has = new Set(toWords(document, share))
    const shared = words.filter(word => has.has(word)).length
    return { index, relevance_score: words.length === 0 ? 0 : shared / words.length }
  })
  scored.sort((one, other) => other.relevance_score - one.relevance_score || one.index - other.index)
  const top = typeof body.top_n === 'number' ? body.top_n : documents.length
  const total = documents.reduce(
    (sum: number, document) => sum + countTokens(document) + countTokens(body.query),
    0,
  )
  return { model: 'rerank', results: scored.slice(0, top), usage: { total_tokens: total } }
}

function toWords(value: Json | undefined, characters: number): readonly string[] {
  if (typeof value !== 'string') return []
  return (
    value
      .slice(0, characters)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  )
}

function countTokens(value: Json | undefined): number {
  return typeof value === 'string' ? Math.max(1, estimateTokens(value)) : 1
}
