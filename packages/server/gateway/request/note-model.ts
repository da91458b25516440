import { invalid } from '@rideau/llm/formats/shared/read-fields'
import type { Json } from '@rideau/llm/json/json-value'
import { MAX_MODEL_NAME, parseModelName } from '@rideau/llm/request/bounded-text'
import type { RecordFields } from './record-fields.ts'

/** Keeps for the record which model is asked for. What is no text the surface refuses by its own words. */
export function noteModel(recordFields: RecordFields, model: Json | undefined): void {
  if (typeof model !== 'string') return
  const name = parseModelName(model)
  if (name === undefined) {
    const bounds = `must have at most ${MAX_MODEL_NAME} characters of well-formed Unicode`
    throw invalid('model', `${bounds}, none of them a control character.`)
  }
  recordFields.modelRequested = name
}
