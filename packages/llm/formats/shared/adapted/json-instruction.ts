import type { JsonObject } from '../../../json/json-value.ts'

/** Returns the sentence that asks a model without structured output for JSON. `schema` undefined: for any object. */
export function toJsonInstruction(schema: JsonObject | undefined): string {
  return schema === undefined
    ? 'Answer with one JSON object only, without any other text.'
    : `Answer with one JSON object only, without any other text, by this JSON Schema: ${JSON.stringify(schema)}`
}
