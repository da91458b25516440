import type { Json, JsonObject } from '../json/json-value.ts'
import { toObjects } from '../json/json-value.ts'
import type { RerankResult } from './rerank-format.ts'

/** No answer reports more; a larger number is a provider's mistake. */
const MAX_COUNT = 1_000_000_000

/** Returns the results of a list, the best first; undefined: an entry has no index or no score. */
export function decodeResults(
  list: Json | undefined,
  scoreName: string,
): readonly RerankResult[] | undefined {
  const results: RerankResult[] = []
  const entries = toObjects(list)
  for (const entry of entries) {
    const index = toCount(entry.index)
    const score = entry[scoreName]
    if (index === undefined || typeof score !== 'number' || !Number.isFinite(score)) return undefined
    results.push({ index, score })
  }
  if (results.length === 0 || new Set(results.map(({ index }) => index)).size < results.length)
    return undefined
  return results.sort((one, other) => other.score - one.score)
}

export function toCount(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_COUNT
    ? value
    : undefined
}

export function toBody(value: JsonObject): Buffer {
  return Buffer.from(JSON.stringify(value))
}
