import type { JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import type { Target } from '../../../upstream/target.ts'
import { countOrZero, findCount } from '../../../usage/token-count.ts'
import type { HostedUse, Usage } from '../../../usage/usage.ts'
import { priceUses, toUses } from '../../shared/tools/hosted-tools.ts'

/**
 * Returns usage in disjoint counts; undefined: there is none. `input_tokens` excludes tokens read from or written to the
 * cache, `output_tokens` includes thinking, and neither includes a compaction before the answer, which is billed too.
 */
export function decodeUsage(usage: JsonObject | undefined): Usage | undefined {
  if (usage === undefined) return undefined
  const input = findCount(usage.input_tokens)
  const output = findCount(usage.output_tokens)
  if (input === undefined && output === undefined) return undefined
  let uncachedInput = input ?? 0
  const thinking = countOrZero(toObject(usage.output_tokens_details)?.thinking_tokens)
  // A part is not larger than the whole.
  let generated = Math.max(output ?? 0, thinking)
  for (const iteration of toObjects(usage.iterations)) {
    if (iteration.type !== 'compaction') continue
    uncachedInput += countOrZero(iteration.input_tokens)
    generated += countOrZero(iteration.output_tokens)
  }
  const kept = toObject(usage.cache_creation)
  const forAnHour = countOrZero(kept?.ephemeral_1h_input_tokens)
  const written =
    findCount(usage.cache_creation_input_tokens) ?? forAnHour + countOrZero(kept?.ephemeral_5m_input_tokens)
  const cacheWrite1h = Math.min(forAnHour, written)
  return {
    uncachedInput,
    cacheRead: countOrZero(usage.cache_read_input_tokens),
    cacheWrite: written - cacheWrite1h,
    ...(cacheWrite1h === 0 ? {} : { cacheWrite1h }),
    output: generated - thinking,
    reasoning: thinking,
  }
}

/** The counts that are read. Nothing else is kept: events of a stream may bring any number of other values. */
const COUNTS = [
  'input_tokens',
  'output_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
] as const
/** The same of objects within. */
const PARTS = Object.entries({
  output_tokens_details: ['thinking_tokens'],
  cache_creation: ['ephemeral_1h_input_tokens', 'ephemeral_5m_input_tokens'],
  server_tool_use: ['web_search_requests'],
})
/** An answer has a compaction or two. */
const MAX_ITERATIONS = 256

/** Counts of a later event replace those of an earlier one, because they are totals. */
export function mergeUsage(earlier: JsonObject, later: JsonObject): JsonObject {
  const merged: JsonObject = toTable({ ...earlier, ...pickCounts(later, COUNTS) })
  for (const [name, counts] of PARTS) {
    const part = toObject(later[name])
    if (part !== undefined) merged[name] = pickCounts(part, counts)
  }
  const { iterations } = later
  if (Array.isArray(iterations)) {
    merged.iterations = toObjects(iterations.slice(0, MAX_ITERATIONS))
      .filter(({ type }) => type === 'compaction')
      .map(iteration => ({ type: 'compaction', ...pickCounts(iteration, COUNTS) }))
  }
  return merged
}

function pickCounts(object: JsonObject, names: readonly string[]): JsonObject {
  const counts: JsonObject = toTable({})
  for (const name of names) {
    const value = object[name]
    if (typeof value === 'number') counts[name] = value
  }
  return counts
}

/**
 * What tools that the provider ran cost; undefined: none has a price for each use. A search that failed is free. `found`:
 * results of searches in the answer, for an answer that counts none.
 */
export function decodeHosted(
  usage: JsonObject | undefined,
  found: number,
  target: Target,
): HostedUse | undefined {
  const counted = toUses(toObject(usage?.server_tool_use)?.web_search_requests) ?? 0
  return priceUses({ web_search: counted === 0 ? found : counted }, target)
}

/** Returns true for the result of a search that the provider ran. A failed one has an error in place of a list. */
export function isSearchResult({ type, content }: JsonObject): boolean {
  return type === 'web_search_tool_result' && Array.isArray(content)
}
