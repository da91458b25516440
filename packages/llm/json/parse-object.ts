import { type Json, type JsonObject, toObject } from './json-value.ts'

/**
 * Returns the object that a provider's text has, such as one event of a stream; undefined: the text is not JSON, or it is another
 * value. What a caller wrote is parsed by `parseText`, which reads every name as providers do.
 */
export function parseObject(text: string): JsonObject | undefined {
  try {
    return toObject(JSON.parse(text) as Json)
  } catch {
    return undefined
  }
}
