export type Json = string | number | boolean | null | Json[] | JsonObject

export type JsonObject = { [key: string]: Json | undefined }

/** Readers for values that a provider may have put to the wrong type. */

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function toObject(value: Json | undefined): JsonObject | undefined {
  return isObject(value) ? value : undefined
}

export function toArray(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}

/** undefined: no string, or an empty one. */
export function toText(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Returns the objects of an array without its other elements. */
export function toObjects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.map(toObject).filter(item => item !== undefined) : []
}

/** Returns the JSON text of a value. Parsing has no bound on depth, but writing has: what is nested deeper has lost its meaning. */
export function toJsonText(value: Json): string {
  try {
    return JSON.stringify(value)
  } catch {
    return '{}'
  }
}

/** No answer has more choices: a larger number would make lists of that length in clients. */
const MAX_INDEX = 1000

/** The longest name of an item. */
const MAX_KEY = 64

/** The number or name of an item by which later pieces of a stream find it; undefined: it has none that can be kept. */
export function toItemKey(value: Json | undefined): number | string | undefined {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.length <= MAX_KEY ? value : undefined
}

/** The number of a choice; undefined: none that a list can have. */
export function toIndex(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < MAX_INDEX
    ? value
    : undefined
}
