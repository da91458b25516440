import type { Json, JsonObject } from '../json/json-value.ts'
import { toObjects } from '../json/json-value.ts'
import { type SentBody, toSentJson } from '../json/unwritten-json.ts'
import { findWholeCount } from '../usage/token-count.ts'
import { MAX_DOCUMENTS, type RerankResult } from './rerank-format.ts'

/** Returns the results of a list, the best first; undefined: it is longer than any, or an entry has no index or no score. */
export function decodeResults(
  list: Json | undefined,
  scoreName: string,
): readonly RerankResult[] | undefined {
  // Sorting a longer one would take long.
  if (Array.isArray(list) && list.length > MAX_DOCUMENTS) return undefined
  const results: RerankResult[] = []
  const entries = toObjects(list)
  for (const entry of entries) {
    const index = findWholeCount(entry.index)
    const score = entry[scoreName]
    if (index === undefined || typeof score !== 'number' || !Number.isFinite(score)) return undefined
    results.push({ index, score })
  }
  if (results.length === 0 || new Set(results.map(({ index }) => index)).size < results.length)
    return undefined
  return results.sort((one, other) => other.score - one.score)
}

export function toBody(value: JsonObject): SentBody {
  return toSentJson(value)
}
