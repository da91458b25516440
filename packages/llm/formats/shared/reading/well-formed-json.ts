import type { Json, JsonObject } from '../../../json/json-value.ts'

/**
 * Returns a body as JSON, with half surrogate pairs replaced, which tools cut from longer texts: Claude and Gemini refuse a
 * request with one, wherever it stands.
 */
export function toWellFormedJson(body: JsonObject): string {
  const text = JSON.stringify(body)
  return /\\ud[89a-f]/i.test(text) ? JSON.stringify(body, toWellFormed) : text
}

function toWellFormed(_: string, value: Json): Json {
  return typeof value === 'string' ? value.toWellFormed() : value
}
