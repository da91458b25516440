import type { JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import type { ResponseFormat } from '../../../request/response-format.ts'
import { toEffort } from '../../shared/claude/claude-effort.ts'
import { noMessageNotes } from '../../shared/reading/message-notes.ts'
import {
  invalid,
  optionalFlag,
  optionalObject,
  optionalText,
  set,
  textAt,
} from '../../shared/reading/read-fields.ts'
import type { MutableRequest } from '../../shared/requests/field-table.ts'
import type { ParseContext, ParsedChat } from '../../shared/requests/parsed-chat.ts'
import { assertNoReservedFields } from '../../shared/requests/reserved-fields.ts'
import { findStored } from '../../shared/requests/stored-fields.ts'
import { FIELDS, USUAL_VALUES } from '../wire/fields.ts'
import { parseMessages } from './parse-messages.ts'
import { isMark, parseTools } from './parse-tools.ts'

/**
 * A body of `POST {prefix}/v1/messages` as a canonical request. Throws RequestError where the gateway relies on a value of
 * the wrong form; the provider judges the rest, and unknown fields pass on to it.
 */
export function parseRequest(body: JsonObject, context: ParseContext): ParsedChat {
  const request = toEmptyRequest()
  const parsed = parseInput(body, request, context)
  FIELDS.read(body, request)
  if (request.maxOutputTokens === undefined) throw invalid('max_tokens', 'is required.')
  if (request.stop?.length === 0) delete request.stop
  request.stream = optionalFlag(body, 'stream') ?? false
  return parsed
}

/** A body of `POST {prefix}/v1/messages/count_tokens`: the same without the fields that say how the model answers. */
export function parseCountRequest(body: JsonObject, context: ParseContext): ParsedChat {
  return parseInput(body, toEmptyRequest(), context)
}

function toEmptyRequest(): MutableRequest {
  // A stream of this format always reports usage.
  return { model: '', messages: [], stream: false, includeUsage: true }
}

function parseInput(body: JsonObject, request: MutableRequest, { isEndUser }: ParseContext): ParsedChat {
  assertNoReservedFields(body, FIELDS.names)
  assertUsualValues(body)
  request.model = textAt(body.model, 'model')
  if (request.model === '') throw invalid('model', 'must not be empty.')
  const tools = parseTools(body, request)
  const free = tools.hostedTools.find(({ isFree }) => isFree === true)?.path
  const notes = noMessageNotes(tools.nativeOnly)
  request.messages = parseMessages(body, notes)
  if (notes.carriesReasoning) request.carriesReasoning = true
  const outputConfig = optionalObject(body, 'output_config')
  set(request, 'responseFormat', parseFormat(outputConfig, optionalObject(body, 'output_format')))
  set(request, 'reasoningEffort', toEffort(optionalObject(body, 'thinking'), outputConfig))
  const isMarked = tools.asksForCaching || notes.asksForCaching
  const user = optionalObject(body, 'metadata')?.user_id
  return {
    request,
    loggedUser: typeof user === 'string' ? user : undefined,
    metadata: null,
    timeoutMs: undefined,
    asksByDefault: true,
    hasClaudesEffort: true,
    spellings: FIELDS.spellings,
    findings: {
      nativeOnly: notes.nativeOnly.concat(FIELDS.listFormatSpecific(body)),
      hosted: [],
      connectors: [],
      hostedTools: [...tools.hostedTools],
      storedStatePaths: [],
      uncounted: free === undefined ? [] : [free],
      unmeasured: notes.unmeasured,
      unknownFields: [],
      passedOn: isEndUser ? (FIELDS.findUnknown(body) ?? free) : undefined,
      stored: isEndUser ? findStored(body) : undefined,
      choices: 1,
      asksForCaching: isMark(body.cache_control) || isMarked,
      cacheMark: isMarked ? 'cache_control' : undefined,
    },
  }
}

/** Refuses values that have another price. */
function assertUsualValues(body: JsonObject): void {
  for (const [name, usual] of USUAL_VALUES) {
    const value = optionalText(body, name)
    if (value !== undefined && !usual.includes(value)) throw invalid(name, `must be ${usual.join(' or ')}.`)
  }
}

function parseFormat(
  config: JsonObject | undefined,
  older: JsonObject | undefined,
): ResponseFormat | undefined {
  const format = toObject(config?.format) ?? older
  const schema = toObject(format?.schema)
  if (format?.type !== 'json_schema' || schema === undefined) return undefined
  return { type: 'json_schema', json_schema: { name: 'answer', schema } }
}
