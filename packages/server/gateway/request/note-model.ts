import { invalid } from '@rideau/llm/formats/shared/reading/read-fields'
import type { Json } from '@rideau/llm/json/json-value'
import { MAX_MODEL_NAME, parseModelName } from '@rideau/llm/request/bounded-text'
import type { RecordFields } from './record-fields.ts'

/**
 * Records the requested model. Throws `invalid_request` for a text that is not a model name; other types are left to
 * the format's own validation.
 */
export function noteModel(recordFields: RecordFields, model: Json | undefined): void {
  if (typeof model !== 'string') return
  const name = parseModelName(model)
  if (name === undefined) {
    const bounds = `must have at most ${MAX_MODEL_NAME} characters of well-formed Unicode`
    throw invalid('model', `${bounds} without control characters.`)
  }
  recordFields.modelRequested = name
}
