import type { Json, JsonObject } from '../../../json/json-value.ts'
import { isObject, toObject, toText } from '../../../json/json-value.ts'
import type { ResponseFormat } from '../../../request/response-format.ts'
import type { FunctionTool } from '../../../request/tools.ts'
import { JsonTexts } from '../../../upstream/json-texts.ts'
import {
  assertFewFields,
  invalid,
  listAt,
  objectAt,
  optionalFlag,
  optionalObject,
  optionalText,
  set,
  textAt,
} from '../../shared/reading/read-fields.ts'
import type { MutableRequest } from '../../shared/requests/field-table.ts'
import { noFindings, type TargetFindings } from '../../shared/requests/findings.ts'
import type { ParseContext, ParsedChat } from '../../shared/requests/parsed-chat.ts'
import { assertNotReservedName } from '../../shared/requests/reserved-fields.ts'
import { findStored } from '../../shared/requests/stored-fields.ts'
import { toolNameAt } from '../../shared/tools/call-fields.ts'
import { NO_PARAMETERS } from '../../shared/tools/input-schema.ts'
import { assertToolFields } from '../../shared/tools/tool-fields.ts'
import { FIELDS, isPassed, isPassedOption, OPTIONS } from '../wire/fields.ts'
import { parseMessages } from './parse-messages.ts'

/**
 * A body of `POST {ollama prefix}/api/chat` as a canonical request. Throws RequestError where the gateway relies on a value
 * of the wrong form. A field that the gateway does not know goes to no provider.
 */
export function parseRequest(body: JsonObject, { isEndUser }: ParseContext): ParsedChat {
  const found = noFindings()
  const ownFields = readOwn(body, found)
  const model = textAt(body.model, 'model')
  if (model === '') throw invalid('model', 'must not be empty.')
  const request: MutableRequest = {
    model,
    messages: parseMessages(body.messages, found.unknownFields),
    stream: optionalFlag(body, 'stream') ?? true,
    // The last line of a stream always reports usage.
    includeUsage: true,
  }
  FIELDS.read(body, request)
  const tools = parseTools(body.tools)
  if (tools.length > 0) request.tools = tools
  set(request, 'responseFormat', parseFormat(body.format))
  set(request, 'reasoningEffort', parseEffort(body.think))
  set(request, 'ownFields', ownFields)
  // The format has no marks of caching, and its providers keep nothing.
  if (isEndUser) {
    found.passedOn = findPassedOn(body)
    found.stored = findStored(body)
  }
  return {
    request,
    metadata: null,
    timeoutMs: undefined,
    spellings: FIELDS.spellings,
    findings: found,
  }
}

/** The fields that a target of this format gets as they are. Adds to `found` what only such a target, or none, may get. */
function readOwn(body: JsonObject, found: TargetFindings): JsonObject | undefined {
  const own = new Map<string, Json>()
  const texts = new JsonTexts()
  const options = optionalObject(body, 'options')
  const ownOptions = options === undefined ? {} : readOwnOptions(options, found, texts)
  if (Object.keys(ownOptions).length > 0) own.set('options', ownOptions)
  for (const name in body) {
    const value = body[name]
    if (value === undefined || value === null) continue
    if (!FIELDS.names.has(name)) {
      assertNotReservedName(name, name, texts)
      found.unknownFields.push(name)
    } else if (isPassed(name)) own.set(name, value)
    if (FIELDS.isFormatSpecific(name, value)) found.nativeOnly.push(name)
  }
  return own.size === 0 ? undefined : Object.fromEntries(own)
}

function readOwnOptions(options: JsonObject, found: TargetFindings, texts: JsonTexts): JsonObject {
  assertFewFields(options, 'options')
  const own = new Map<string, Json>()
  for (const name in options) {
    const value = options[name]
    if (value === undefined || value === null) continue
    const path = `options.${name}`
    if (!OPTIONS.names.has(name)) {
      assertNotReservedName(name, path, texts)
      found.unknownFields.push(path)
    } else if (isPassedOption(name)) own.set(name, value)
    if (OPTIONS.isFormatSpecific(name, value)) found.nativeOnly.push(path)
  }
  return Object.fromEntries(own)
}

/** The first field that an end user may not send, not even as null. */
function findPassedOn(body: JsonObject): string | undefined {
  for (const name in body) if (!FIELDS.isForEndUsers(name, body[name])) return name
  const { options } = body
  if (!isObject(options)) return undefined
  for (const name in options) if (!OPTIONS.isForEndUsers(name, options[name])) return `options.${name}`
  return undefined
}

const FUNCTION_TOOL: ReadonlySet<string> = new Set(['type', 'function'])

function parseTools(tools: Json | undefined): FunctionTool[] {
  if (tools === undefined || tools === null) return []
  return listAt(tools, 'tools').map((tool, at) => parseTool(objectAt(tool, `tools[${at}]`), `tools[${at}]`))
}

function parseTool(tool: JsonObject, path: string): FunctionTool {
  if ((tool.type ?? 'function') !== 'function') throw invalid(`${path}.type`, 'must be function.')
  assertToolFields(tool, FUNCTION_TOOL, path)
  const fn = objectAt(tool.function, `${path}.function`)
  const description = optionalText(fn, 'description', `${path}.function.description`)
  return {
    type: 'function',
    function: {
      name: toolNameAt(fn.name, `${path}.function.name`),
      ...(description === undefined ? {} : { description }),
      parameters: optionalObject(fn, 'parameters', `${path}.function.parameters`) ?? NO_PARAMETERS,
    },
  }
}

/** `json`, or a schema. An empty string asks for nothing. */
function parseFormat(format: Json | undefined): ResponseFormat | undefined {
  if (format === undefined || format === null || format === '') return undefined
  if (format === 'json') return { type: 'json_object' }
  const schema = toObject(format)
  if (schema === undefined) throw invalid('format', 'must be json or a schema.')
  return { type: 'json_schema', json_schema: { name: 'answer', schema } }
}

/** Most models can only be told to think or not to; one family takes an effort. */
function parseEffort(think: Json | undefined): string | undefined {
  if (think === undefined || think === null) return undefined
  if (typeof think === 'boolean') return think ? 'medium' : 'none'
  return toText(textAt(think, 'think'))
}
