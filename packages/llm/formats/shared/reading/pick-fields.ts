import type { Json, JsonObject } from '../../../json/json-value.ts'
import type { EncodedRequest } from '../../../upstream/upstream-request.ts'

/** Returns some fields of a request as it would go out, for a route that takes fewer. */
export function pickFields({ content }: EncodedRequest, names: readonly string[]): JsonObject {
  const picked = new Map<string, Json>()
  for (const name of names) {
    const { value, changes } = content ?? NOTHING
    const sent = changes?.has(name) === true ? changes.get(name) : value[name]
    if (sent !== undefined && sent !== null) picked.set(name, sent)
  }
  return Object.fromEntries(picked)
}

const NOTHING: Pick<NonNullable<EncodedRequest['content']>, 'value' | 'changes'> = { value: {} }
