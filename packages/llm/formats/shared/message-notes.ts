import type { Json } from '../../json/json-value.ts'

/** What a parser of messages notes besides the messages themselves. */
export interface MessageNotes {
  /** Paths of parts that no other format has a place for. */
  readonly nativeOnly: string[]
  /** A mark of prompt caching stands at a place that the format has for it. */
  asksForCaching: boolean
  /** A tool-call id carries reasoning that we packed into it, or reasoning has our mark of another provider. */
  carriesReasoning: boolean
}

export function noMessageNotes(nativeOnly: string[] = []): MessageNotes {
  return { nativeOnly, asksForCaching: false, carriesReasoning: false }
}

/** True if a set field of this name stands at any depth: for marks of caching in content that the gateway does not read. */
export function hasFieldWithin(value: Json | undefined, name: string): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(each => hasFieldWithin(each, name))
  for (const key in value) {
    if (key === name && value[key] !== null) return true
    if (hasFieldWithin(value[key], name)) return true
  }
  return false
}
