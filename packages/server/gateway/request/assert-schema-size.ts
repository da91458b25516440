import { RequestError } from '@rideau/llm/formats/shared/reading/request-error'
import type { ParsedChat } from '@rideau/llm/formats/shared/requests/parsed-chat'
import { weighJson } from '@rideau/llm/json/weigh-json'

/** Many times what any provider takes. Each value and each name counts 32 besides its characters. */
const MAX_SCHEMA_CHARS = 4 * 1024 * 1024
const FORMAT = 'response_format'

/** Throws if the schema of an answer is too long, since some targets get it as a text, which is written at once. */
export function assertSchemaSize({
  request: { responseFormat },
  spellings,
}: Pick<ParsedChat, 'request' | 'spellings'>): void {
  const schema = responseFormat?.type === 'json_schema' ? responseFormat.json_schema.schema : undefined
  if (weighJson(schema ?? undefined, MAX_SCHEMA_CHARS) >= 0) return
  const param = spellings?.get(FORMAT) ?? FORMAT
  const most = MAX_SCHEMA_CHARS.toLocaleString('en-US')
  const message = `${param}: must have a JSON Schema of at most ${most} characters, with 32 for each value and each name.`
  throw new RequestError('request_too_large', message, { param })
}
