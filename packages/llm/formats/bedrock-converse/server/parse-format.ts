import type { Json, JsonObject } from '../../../json/json-value.ts'
import { isObject, toText } from '../../../json/json-value.ts'
import { parseUnreadText } from '../../../json/parse-text.ts'
import type { ResponseFormat } from '../../../request/response-format.ts'
import { invalid, objectAt, optionalObject, textAt } from '../../shared/reading/read-fields.ts'

const PATH = 'outputConfig.textFormat'
/** In characters. The schema is a text that is parsed at once, which blocks other requests meanwhile. */
const MAX_SCHEMA = 65_536

/** The response format that `outputConfig.textFormat` asks for; undefined: none. */
export function parseFormat(body: JsonObject): ResponseFormat | undefined {
  const config = optionalObject(body, 'outputConfig')
  const format = config === undefined ? undefined : optionalObject(config, 'textFormat', PATH)
  if (format === undefined) return undefined
  if (format.type !== 'json_schema') throw invalid(`${PATH}.type`, 'must be json_schema.')
  const at = `${PATH}.structure.jsonSchema`
  const given = objectAt(objectAt(format.structure, `${PATH}.structure`).jsonSchema, at)
  const schema = parseSchema(textAt(given.schema, `${at}.schema`), `${at}.schema`)
  const description = toText(given.description)
  const name = toText(given.name) ?? 'answer'
  return description === undefined
    ? { type: 'json_schema', json_schema: { name, schema } }
    : { type: 'json_schema', json_schema: { name, schema, description } }
}

function parseSchema(text: string, path: string): JsonObject {
  if (text.length > MAX_SCHEMA) throw invalid(path, 'must have at most 65,536 characters.')
  let schema: Json | undefined
  try {
    schema = parseUnreadText(text)
  } catch {
    // Refused below.
  }
  if (!isObject(schema)) throw invalid(path, 'must be the text of a JSON object.')
  return schema
}
