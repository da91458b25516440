import type { Json } from '@rideau/llm/json/json-value'

/** True if a text at any depth of a value begins like this, such as a data URL of some kind. */
export function hasData(value: Json | undefined, kind: Pick<RegExp, 'test'>): boolean {
  if (typeof value === 'string') return kind.test(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(each => hasData(each, kind))
}
