import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import type { Message } from '../../../request/message.ts'
import type { ResponseFormat } from '../../../request/response-format.ts'
import { hasCacheMark } from '../../shared/claude/cache-marks.ts'
import { OPENAI_METADATA, parseLogMetadata } from '../../shared/reading/log-metadata.ts'
import {
  invalid,
  objectAt,
  optionalFlag,
  optionalObject,
  optionalText,
  set,
  textAt,
} from '../../shared/reading/read-fields.ts'
import type { MutableRequest } from '../../shared/requests/field-table.ts'
import type { ParseContext, ParsedChat } from '../../shared/requests/parsed-chat.ts'
import { assertNoReservedFields, assertUsualTier } from '../../shared/requests/reserved-fields.ts'
import { findStored } from '../../shared/requests/stored-fields.ts'
import type { HostedToolRequest } from '../../shared/tools/hosted-tools.ts'
import { FIELDS, NESTED_FIELDS, STORED_STATE_FIELDS } from '../wire/fields.ts'
import { CACHE_MARK, type InputFindings, isMarked, noInputFindings } from './input-findings.ts'
import { parseInput } from './parse-input.ts'
import { parseItemTools } from './parse-item-tools.ts'
import { parseToolChoice, parseTools } from './parse-tools.ts'
import { toEcho } from './repeat-request.ts'
import { ToolTable } from './tool-table.ts'

/**
 * A body of `POST {prefix}/v1/responses` as a canonical request. Throws RequestError where the gateway relies on a value of
 * the wrong form, or where it could not bill the answer; everything else is the provider's to judge.
 */
export function parseRequest(
  body: JsonObject,
  { isEndUser, source }: Pick<ParseContext, 'isEndUser' | 'source'>,
): ParsedChat {
  assertNoReservedFields(body, FIELDS.names)
  assertUsualTier(body.service_tier)
  const model = textAt(body.model, 'model')
  if (model === '') throw invalid('model', 'must not be empty.')
  assertBilled(body)
  const findings = noInputFindings()
  const table = new ToolTable()
  parseTools(body.tools, 'tools', table, findings)
  parseItemTools(body.input, table, findings)
  const request: MutableRequest = {
    model,
    messages: parseMessages(body, table, findings),
    stream: optionalFlag(body, 'stream') ?? false,
    // The last event of a stream always reports usage.
    includeUsage: true,
  }
  const toolChoice = parseToolChoice(body.tool_choice, table, findings)
  // Many providers refuse an empty list, and a choice among none.
  if (table.tools.length > 0) {
    request.tools = table.tools
    if (table.isFlattened) request.flattensTools = true
    set(request, 'toolChoice', toolChoice)
  }
  FIELDS.read(body, request)
  set(request, 'responseFormat', parseFormat(toObject(body.text)?.format))
  set(request, 'receivedOutputCap', request.maxOutputTokens)
  if (findings.carriesReasoning) request.carriesReasoning = true
  noteFields(body, request, findings)
  return {
    request,
    metadata: parseLogMetadata(body.metadata, OPENAI_METADATA),
    timeoutMs: undefined,
    spellings: FIELDS.spellings,
    findings: {
      nativeOnly: findings.nativeOnly,
      hosted: findings.hosted,
      connectors: findings.connectors,
      hostedTools: withMaxUses(findings.hostedTools, body.max_tool_calls),
      storedStatePaths: findings.storedStatePaths,
      storedReasoning: findings.storedReasoning,
      itemsById: findings.itemsById,
      uncounted: findings.uncounted,
      unmeasured: findings.unmeasured,
      unknownFields: findings.unknownFields,
      passedOn: isEndUser ? findPassedOn(body, findings) : undefined,
      stored: isEndUser ? findStored(body) : undefined,
      choices: 1,
      asksForCaching: findings.hasCacheMark || isMarked(body),
    },
    repeated: {
      echo: toEcho(body, source.bytes.length),
      calledTools: table.called,
      mayBeReferred: body.store !== false,
    },
  }
}

/** The format bounds the calls of all of these tools together. */
function withMaxUses(tools: HostedToolRequest[], most: Json | undefined): HostedToolRequest[] {
  if (typeof most !== 'number' || !(most >= 0) || tools.length === 0) return tools
  const maxUses = Math.ceil(most)
  return tools.map(({ path, type, choicePath }) => ({ path, type, choicePath, maxUses }))
}

function assertBilled(body: JsonObject): void {
  if (optionalFlag(body, 'background') === true) {
    throw invalid('background', 'must be false: an answer that is fetched later cannot be billed.')
  }
  if (body.prompt !== undefined && body.prompt !== null) {
    throw invalid('prompt', 'may not be set here: a stored prompt brings its own model, messages and tools.')
  }
}

function parseMessages(body: JsonObject, table: ToolTable, findings: InputFindings): Message[] {
  const instructions = optionalText(body, 'instructions')
  const messages = parseInput(body.input, table, findings)
  if (instructions !== undefined && instructions !== '') {
    messages.unshift({ role: 'system', content: instructions })
  }
  return messages
}

/** The name, the schema and the type of a format stand side by side here. */
function parseFormat(value: Json | undefined): ResponseFormat | undefined {
  if (value === undefined || value === null) return undefined
  const format = objectAt(value, 'text.format')
  const type = textAt(format.type, 'text.format.type')
  if (type !== 'json_schema') return { type } as ResponseFormat
  const description = optionalText(format, 'description', 'text.format.description')
  return {
    type,
    json_schema: {
      name: textAt(format.name, 'text.format.name'),
      schema: objectAt(format.schema, 'text.format.schema'),
      ...(typeof format.strict === 'boolean' ? { strict: format.strict } : {}),
      ...(description === undefined ? {} : { description }),
    },
  }
}

/** Notes the fields that change an answer and that no other format has. Those of the top level are extra fields too. */
function noteFields(body: JsonObject, request: MutableRequest, findings: InputFindings): void {
  let extra: Map<string, Json> | undefined
  for (const name in body) {
    const value = body[name]
    if (value === undefined || value === null) continue
    if (STORED_STATE_FIELDS.has(name)) findings.storedStatePaths.push(name)
    if (FIELDS.names.has(name) && !FIELDS.isFormatSpecific(name, value)) continue
    findings.nativeOnly.push(name)
    if (hasCacheMark(value)) findings.hasCacheMark = true
    extra ??= new Map()
    extra.set(name, value)
  }
  if (extra !== undefined) request.extra = extra
  noteNestedFields(body, 'reasoning', findings)
  noteNestedFields(body, 'text', findings)
  // The canonical messages have no marks of this format.
  if (findings.hasCacheMark && !findings.nativeOnly.includes(CACHE_MARK)) findings.nativeOnly.push(CACHE_MARK)
}

/** Unknown fields of these objects are left out at other formats, unlike those of the top level. */
function noteNestedFields(body: JsonObject, name: keyof typeof NESTED_FIELDS, findings: InputFindings): void {
  const object = optionalObject(body, name)
  for (const inner in object) {
    const value = object[inner]
    if (value === undefined || value === null) continue
    if (NESTED_FIELDS[name].isFormatSpecific(inner, value)) findings.nativeOnly.push(`${name}.${inner}`)
  }
}

/** A field of state, an unknown field, or a tool search of the provider. */
function findPassedOn(body: JsonObject, { searchTool }: InputFindings): string | undefined {
  for (const name in body) {
    if (body[name] !== null && (!FIELDS.names.has(name) || STORED_STATE_FIELDS.has(name))) return name
  }
  return searchTool
}
