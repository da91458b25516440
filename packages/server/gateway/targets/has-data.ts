import type { Json } from '@rideau/llm/json/json-value'

/** True if a text at any depth of a value is a data URL of this kind. */
export function hasData(value: Json | undefined, kind: RegExp): boolean {
  if (typeof value === 'string') return kind.test(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(each => hasData(each, kind))
}
