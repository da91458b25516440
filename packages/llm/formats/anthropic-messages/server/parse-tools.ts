import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import type { FunctionTool, ToolChoice } from '../../../request/tools.ts'
import { JsonTexts } from '../../../upstream/json-texts.ts'
import {
  invalid,
  listAt,
  objectAt,
  optionalObject,
  optionalText,
  textAt,
} from '../../shared/reading/read-fields.ts'
import type { MutableRequest } from '../../shared/requests/field-table.ts'
import { assertNoReservedFields } from '../../shared/requests/reserved-fields.ts'
import { toolNameAt } from '../../shared/tools/call-fields.ts'
import { type HostedToolRequest, toUses } from '../../shared/tools/hosted-tools.ts'
import { assertToolFields } from '../../shared/tools/tool-fields.ts'
import { CUSTOM_TOOL, findPricedType, toToolKind } from '../wire/tool-rules.ts'
import { toClientRunFunction } from './client-run-tools.ts'

/** Fields of a tool that the caller defines and runs. */
const CUSTOM: ReadonlySet<string> = new Set(CUSTOM_TOOL.fields?.names)
/** Fields of the other tools that this parser checks itself. */
const TYPED: ReadonlySet<string> = new Set(['type', 'name', 'configs', 'url_sources'])
/** Objects whose names mean nothing to what is priced or authorized. */
const FREE_FIELDS: ReadonlySet<string> = new Set(['configs', 'url_sources'])

/** What a request says of tools, besides the canonical ones. */
export interface ToolNotes {
  /** Paths of tools and choices that only a target of this format can honour. */
  readonly nativeOnly: string[]
  /** Tools that the provider runs. */
  readonly hostedTools: readonly HostedToolRequest[]
  readonly asksForCaching: boolean
}

/**
 * Sets the canonical tools and choice of a request. Throws RequestError on a tool of the wrong form or of an unknown type.
 */
export function parseTools(body: JsonObject, request: MutableRequest): ToolNotes {
  const list = body.tools === undefined || body.tools === null ? [] : listAt(body.tools, 'tools')
  const functions: FunctionTool[] = []
  const nativeOnly: string[] = []
  const nativeNames = new Set<Json | undefined>()
  const clientRun = new Set<Json | undefined>()
  const hostedTools: NamedToolRequest[] = []
  let asksForCaching = false
  const texts = new JsonTexts()
  for (const [at, value] of list.entries()) {
    const path = `tools[${at}]`
    const tool = objectAt(value, path)
    const kind = toToolKind(optionalText(tool, 'type', `${path}.type`))
    asksForCaching ||= isMark(tool.cache_control)
    if (kind === 'custom') {
      functions.push(parseFunction(tool, path))
      continue
    }
    if (kind === 'unknown') {
      const message =
        'is the type of a tool that the provider may run and charge for; the gateway does not know it.'
      throw invalid(`${path}.type`, message)
    }
    if (kind === 'hosted') {
      hostedTools.push({ path, name: tool.name, type: findPricedType(tool), maxUses: toUses(tool.max_uses) })
      continue
    }
    assertNoReservedFields(tool, TYPED, path, FREE_FIELDS, texts)
    if (kind === 'free') {
      hostedTools.push({ path, name: tool.name, type: undefined, isFree: true })
      continue
    }
    // One of each type: a short tool becomes a long function.
    const fn = clientRun.has(tool.type) ? undefined : toClientRunFunction(tool.type, tool.name)
    if (fn !== undefined) {
      clientRun.add(tool.type)
      functions.push(withMark(fn, tool.cache_control))
      continue
    }
    nativeOnly.push(path)
    nativeNames.add(tool.name)
  }
  if (functions.length > 0) request.tools = functions
  const choice = optionalObject(body, 'tool_choice')
  const toolChoice = parseChoice(choice)
  if (choice?.type === 'tool' && nativeNames.has(choice.name)) nativeOnly.push('tool_choice')
  const chosen = choice?.type === 'tool' ? choice.name : undefined
  if (toolChoice !== undefined && isOfFunctions(toolChoice, functions)) request.toolChoice = toolChoice
  if (functions.length > 0 && choice?.disable_parallel_tool_use === true) request.parallelToolCalls = false
  return { nativeOnly, hostedTools: hostedTools.map(tool => toHostedRequest(tool, chosen)), asksForCaching }
}

interface NamedToolRequest extends HostedToolRequest {
  readonly name: Json | undefined
}

/** The choice of a tool is left out with the tool. */
function toHostedRequest(
  { path, name, type, isFree, maxUses }: NamedToolRequest,
  chosen: Json | undefined,
): HostedToolRequest {
  const isChosen = chosen !== undefined && name === chosen
  return { path, type, isFree, maxUses, choicePath: isChosen ? 'tool_choice' : undefined }
}

/** True for a mark of prompt caching; null means absent. */
export function isMark(value: Json | undefined): boolean {
  return value !== undefined && value !== null
}

function parseFunction(tool: JsonObject, path: string): FunctionTool {
  assertToolFields(tool, CUSTOM, path)
  const { description, input_schema: schema, strict, cache_control } = tool
  const fn: FunctionTool['function'] = {
    name: toolNameAt(tool.name, `${path}.name`),
    parameters:
      schema === undefined ? { type: 'object', properties: {} } : objectAt(schema, `${path}.input_schema`),
  }
  if (typeof description === 'string') fn.description = description
  if (strict === true) fn.strict = strict
  return withMark(fn, cache_control)
}

function withMark(fn: FunctionTool['function'], value: Json | undefined): FunctionTool {
  const mark = toObject(value)
  return mark === undefined
    ? { type: 'function', function: fn }
    : ({ type: 'function', function: fn, cache_control: mark } as FunctionTool)
}

function parseChoice(choice: JsonObject | undefined): ToolChoice | undefined {
  if (choice === undefined) return undefined
  switch (textAt(choice.type, 'tool_choice.type')) {
    case 'auto':
      return 'auto'
    case 'none':
      return 'none'
    case 'any':
      return 'required'
    case 'tool':
      return { type: 'function', function: { name: textAt(choice.name, 'tool_choice.name') } }
    default:
      return undefined
  }
}

/** Without functions there is no choice, and other formats refuse the name of an unknown one. */
function isOfFunctions(choice: ToolChoice, functions: readonly FunctionTool[]): boolean {
  if (typeof choice !== 'object') return functions.length > 0
  return functions.some(({ function: { name } }) => name === choice.function.name)
}
