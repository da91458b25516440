import type { JsonObject } from '../../json/json-value.ts'

/** OpenAI's `metadata` passes on as it is; what fits our own form (16 pairs of strings) is kept with the log too. */
export function toLogMetadata(metadata: JsonObject[string]): Record<string, string> | null {
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return null
  const pairs = Object.entries(metadata).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1].length <= 512,
  )
  return pairs.length === 0 || pairs.length > 16 ? null : Object.fromEntries(pairs)
}
