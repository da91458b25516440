import type { JsonObject } from '../../../json/json-value.ts'
import { parseInnerObject } from '../reading/parse-inner-json.ts'

/** Returns the arguments of a call as an object; empty if the model wrote anything else. */
export function toArgumentsOrEmpty(text: string): JsonObject {
  return parseInnerObject(text) ?? {}
}

/** Returns the arguments of a call as an object. What else the model wrote stays visible to it: it is wrapped in `arguments`. */
export function toArgumentsOrWrapped(text: string): JsonObject {
  if (text.trim() === '') return {}
  return parseInnerObject(text) ?? { arguments: text }
}
