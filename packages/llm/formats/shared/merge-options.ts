import type { JsonObject } from '../../json/json-value.ts'
import { toObject } from '../../json/json-value.ts'

/** What the caller wrote for a provider goes over the body that we made, object by object. */
export function mergeOptions(body: JsonObject, options: JsonObject | undefined): JsonObject {
  if (options === undefined) return body
  const merged: JsonObject = { ...body }
  for (const [name, value] of Object.entries(options)) {
    const ours = toObject(body[name])
    const theirs = toObject(value)
    merged[name] = ours === undefined || theirs === undefined ? value : mergeOptions(ours, theirs)
  }
  return merged
}
