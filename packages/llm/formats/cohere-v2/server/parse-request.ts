import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects, toText } from '../../../json/json-value.ts'
import type { ResponseFormat } from '../../../request/response-format.ts'
import type { FunctionTool, ToolChoice } from '../../../request/tools.ts'
import { noMessageNotes } from '../../shared/reading/message-notes.ts'
import {
  invalid,
  listAt,
  optionalChoice,
  optionalFlag,
  optionalObject,
  set,
  textAt,
} from '../../shared/reading/read-fields.ts'
import { isHostedChatTool, listHostedChatTools, parseTools } from '../../shared/requests/chat-fields.ts'
import type { MutableRequest } from '../../shared/requests/field-table.ts'
import { noFindings } from '../../shared/requests/findings.ts'
import type { ParseContext, ParsedChat } from '../../shared/requests/parsed-chat.ts'
import { assertNoReservedFields } from '../../shared/requests/reserved-fields.ts'
import { findStored } from '../../shared/requests/stored-fields.ts'
import { FIELDS } from '../wire/fields.ts'
import { parseMessages } from './parse-messages.ts'

/**
 * A body of `POST {prefix}/v2/chat` as a canonical request. Throws RequestError where the gateway relies on a value of
 * the wrong form; everything else is the provider's to judge.
 */
export function parseRequest(body: JsonObject, { isEndUser }: ParseContext): ParsedChat {
  assertNoReservedFields(body, FIELDS.names)
  const model = textAt(body.model, 'model')
  if (model === '') throw invalid('model', 'must not be empty.')
  const notes = noMessageNotes(FIELDS.listFormatSpecific(body))
  const request: MutableRequest = {
    model,
    messages: parseMessages(body.messages, notes),
    stream: optionalFlag(body, 'stream') ?? false,
    // The last event of a stream always reports usage.
    includeUsage: true,
  }
  FIELDS.read(body, request)
  if (request.stop?.length === 0) delete request.stop
  set(request, 'receivedOutputCap', request.maxOutputTokens)
  if (notes.carriesReasoning) request.carriesReasoning = true
  readTools(body, request)
  set(request, 'responseFormat', readFormat(optionalObject(body, 'response_format')))
  set(request, 'reasoningEffort', readEffort(optionalObject(body, 'thinking')))
  set(request, 'passedInput', readDocuments(body.documents))
  optionalObject(body, 'citation_options')
  // The format has no marks of caching, and its providers keep nothing.
  const findings = noFindings()
  findings.nativeOnly = notes.nativeOnly
  findings.unmeasured = notes.unmeasured
  for (const tool of listHostedChatTools(body))
    if (tool.path.startsWith('tools[')) findings.hostedTools.push(tool)
  if (isEndUser) {
    findings.passedOn = FIELDS.findUnknown(body)
    findings.stored = findStored(body)
  }
  return {
    request,
    metadata: null,
    timeoutMs: undefined,
    spellings: FIELDS.spellings,
    findings,
  }
}

function readTools(body: JsonObject, request: MutableRequest): void {
  if (body.tools !== undefined && body.tools !== null) parseTools(body.tools, { strict: true })
  const choice = optionalChoice(body, 'tool_choice', ['REQUIRED', 'NONE'])
  const tools = toObjects(body.tools)
    .filter(tool => !isHostedChatTool(tool))
    .map(toTool)
  if (tools.length === 0) return
  request.tools = tools
  if (choice !== undefined) request.toolChoice = TOOL_CHOICES[choice]
}

const TOOL_CHOICES: Readonly<Record<'REQUIRED' | 'NONE', ToolChoice>> = { REQUIRED: 'required', NONE: 'none' }

function toTool(tool: JsonObject): FunctionTool {
  const fn = toObject(tool.function)
  const description = toText(fn?.description)
  return {
    type: 'function',
    function: {
      name: toText(fn?.name) ?? '',
      ...(description === undefined ? {} : { description }),
      parameters: toObject(fn?.parameters) ?? { type: 'object', properties: {} },
    },
  }
}

/** A schema stands beside its type; older clients call it `schema`. */
function readFormat(format: JsonObject | undefined): ResponseFormat | undefined {
  if (format?.type !== 'json_object') return undefined
  const schema = toObject(format.json_schema) ?? toObject(format.schema)
  if (schema === undefined) return { type: 'json_object' }
  return { type: 'json_schema', json_schema: { name: 'answer', schema } }
}

/** Thinking tokens up to which an effort is less than high. */
const MINIMAL_BUDGET = 512
const LOW_BUDGET = 2048
const MEDIUM_BUDGET = 8192

function readEffort(thinking: JsonObject | undefined): string | undefined {
  if (thinking?.type === 'disabled') return 'none'
  if (thinking?.type !== 'enabled') return undefined
  const budget = thinking.token_budget
  if (typeof budget !== 'number') return 'high'
  if (budget <= MINIMAL_BUDGET) return 'minimal'
  if (budget <= LOW_BUDGET) return 'low'
  return budget <= MEDIUM_BUDGET ? 'medium' : 'high'
}

/** Documents pass through unread. They are input all the same, so they are counted. */
function readDocuments(documents: Json | undefined): Json[] | undefined {
  if (documents === undefined || documents === null) return undefined
  const list = listAt(documents, 'documents')
  return list.length === 0 ? undefined : list
}
