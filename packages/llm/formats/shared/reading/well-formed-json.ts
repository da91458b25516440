import type { Json, JsonObject } from '../../../json/json-value.ts'
import { type SentBody, toSentJson } from '../../../json/unwritten-json.ts'

/**
 * Returns a body as JSON, with half surrogate pairs replaced, which tools cut from longer texts: Claude and Gemini refuse a
 * request with one, wherever it stands.
 */
export function toWellFormedBody(body: JsonObject): SentBody {
  return toSentJson(body, toWellFormedJson)
}

function toWellFormedJson(value: Json): string {
  const text = JSON.stringify(value)
  return /\\ud[89a-f]/i.test(text) ? JSON.stringify(value, toWellFormed) : text
}

function toWellFormed(_: string, value: Json): Json {
  return typeof value === 'string' ? value.toWellFormed() : value
}
