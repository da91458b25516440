import type { JsonObject } from '../../../json/json-value.ts'
import {
  assertKnownFields,
  invalid,
  optionalFlag,
  optionalObject,
  set,
  textAt,
} from '../reading/read-fields.ts'
import { isMarkedTool, parseOutputCap } from './chat-fields.ts'
import { STREAM_OPTIONS } from './chat-rules.ts'
import type { FieldTable, MutableRequest } from './field-table.ts'
import { parseMessages, type Strictness } from './parse-messages.ts'

const STREAM_FIELDS: ReadonlySet<string> = new Set(STREAM_OPTIONS.fields?.names)

/** The part of a body in OpenAI's shape that has a canonical meaning. */
export interface OpenAiRequest {
  readonly request: MutableRequest
  /** A mark of caching stands on a message, a part, a tool call or a tool. */
  readonly asksForCaching: boolean
}

/** Parses a body in OpenAI's shape by its format's fields. Throws RequestError where the gateway relies on a value of the wrong form. */
export function parseOpenAiRequest(
  body: JsonObject,
  fields: FieldTable,
  strictness: Strictness,
): OpenAiRequest {
  const model = textAt(body.model, 'model')
  if (model === '') throw invalid('model', 'must not be empty.')
  const options = optionalObject(body, 'stream_options')
  if (strictness.strict && options !== undefined) assertKnownFields(options, STREAM_FIELDS, 'stream_options')
  const includeUsage =
    options === undefined ? undefined : optionalFlag(options, 'include_usage', 'stream_options.include_usage')
  const found = { asksForCaching: false }
  const request: MutableRequest = {
    model,
    messages: parseMessages(body.messages, strictness, found),
    stream: optionalFlag(body, 'stream') ?? false,
    includeUsage: includeUsage ?? false,
  }
  fields.read(body, request)
  set(request, 'maxOutputTokens', parseOutputCap(body, fields.namesOf('maxOutputTokens')))
  if (request.tools === undefined && Array.isArray(body.tools) && body.tools.length > 0) {
    // All of them are left out: there is nothing to choose.
    delete request.toolChoice
    delete request.parallelToolCalls
  }
  const asksForCaching = found.asksForCaching || request.tools?.some(isMarkedTool) === true
  return { request, asksForCaching }
}
