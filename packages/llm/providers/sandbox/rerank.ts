import type { Json, JsonObject } from '../../json/json-value.ts'
import { estimateTokens } from '../../usage/estimate.ts'
import { reply, type SandboxAnswer } from './sandbox-answer.ts'

/** The most characters that are read of the query, and of all documents together. They are read in one go, while all other requests wait. */
const READ_CHARACTERS = 128 * 1024

/** The sandbox's rerank answer: a document scores by the share of the query's words that it has. */
export function answerRerank(body: JsonObject): SandboxAnswer {
  const documents = Array.isArray(body.documents) ? body.documents : []
  const share = Math.ceil(READ_CHARACTERS / Math.max(1, documents.length))
  const words = new Set(toWords(body.query, READ_CHARACTERS))
  const scored = documents.map((document, index) => {
    // The words of the document are counted, not those of the query: all documents together are short.
    let shared = 0
    for (const word of new Set(toWords(document, share))) if (words.has(word)) shared++
    return { index, relevance_score: words.size === 0 ? 0 : shared / words.size }
  })
  scored.sort((one, other) => other.relevance_score - one.relevance_score || one.index - other.index)
  const top = typeof body.top_n === 'number' ? body.top_n : documents.length
  // The query is read with each document.
  const total = documents.reduce(
    (sum: number, document) => sum + countTokens(document),
    documents.length * countTokens(body.query),
  )
  return reply({ model: 'rerank', results: scored.slice(0, top), usage: { total_tokens: total } })
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
