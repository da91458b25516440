import type { Json, JsonObject } from '../../../json/json-value.ts'
import { isObject, toObject, toText } from '../../../json/json-value.ts'
import type { FunctionTool, ToolChoice } from '../../../request/tools.ts'
import { invalid, listAt, objectAt, optionalObject } from '../../shared/reading/read-fields.ts'
import type { MutableRequest } from '../../shared/requests/field-table.ts'
import { assertNoReservedFields } from '../../shared/requests/reserved-fields.ts'
import { toolNameAt } from '../../shared/tools/call-fields.ts'
import { findOtherField } from '../../shared/tools/tool-fields.ts'
import { TOOL } from '../wire/block-rules.ts'
import { TOOLS } from '../wire/fields.ts'
import { isSet, toCacheControl } from './parse-blocks.ts'

/** Fields of an entry that the gateway knows. Any other one may be a tool that the provider runs itself. */
const ENTRY: ReadonlySet<string> = new Set(TOOL.fields?.names)

/**
 * Sets the canonical tools and choice of a request from `toolConfig`. Returns whether a tool has a mark of caching. Throws
 * RequestError on a tool of the wrong form, and on one that the provider runs at a price of its own.
 */
export function parseTools(body: JsonObject, request: MutableRequest): boolean {
  const config = optionalObject(body, 'toolConfig')
  if (config === undefined) return false
  assertNoReservedFields(config, TOOLS.names, 'toolConfig')
  const choice = parseChoice(optionalObject(config, 'toolChoice', 'toolConfig.toolChoice'))
  const tools: FunctionTool[] = []
  let asksForCaching = false
  for (const [at, value] of listAt(config.tools, 'toolConfig.tools').entries()) {
    const path = `toolConfig.tools[${at}]`
    const entry = objectAt(value, path)
    const spec = parseEntry(entry, path)
    if (spec !== undefined) tools.push(spec)
    if (!isSet(entry.cachePoint)) continue
    // A cache point is a mark on the tool before it.
    asksForCaching = true
    const marked = tools.at(-1) as { cache_control?: JsonObject } | undefined
    if (marked !== undefined) marked.cache_control ??= toCacheControl(entry.cachePoint)
  }
  if (tools.length === 0) return asksForCaching
  request.tools = tools
  if (choice !== undefined) request.toolChoice = choice
  return asksForCaching
}

/** undefined: the entry is a cache point alone. */
function parseEntry(entry: JsonObject, path: string): FunctionTool | undefined {
  const isHosted = findOtherField(entry, ENTRY) !== undefined
  if (!isHosted && isSet(entry.cachePoint) && !isSet(entry.toolSpec)) return undefined
  if (isHosted || !isObject(entry.toolSpec)) {
    throw invalid(path, 'must have a toolSpec alone; tools that a provider hosts are not offered.')
  }
  return parseSpec(entry.toolSpec, `${path}.toolSpec`)
}

function parseSpec(spec: JsonObject, path: string): FunctionTool {
  const schema = optionalObject(spec, 'inputSchema', `${path}.inputSchema`)
  const description = toText(spec.description)
  const fn: FunctionTool['function'] = {
    name: toolNameAt(spec.name, `${path}.name`),
    parameters:
      schema === undefined
        ? { type: 'object', properties: {} }
        : objectAt(schema.json, `${path}.inputSchema.json`),
  }
  if (description !== undefined) fn.description = description
  if (spec.strict === true) fn.strict = true
  return { type: 'function', function: fn }
}

function parseChoice(choice: JsonObject | undefined): ToolChoice | undefined {
  const named = toObject(choice?.tool)
  if (named !== undefined) return toNamed(named.name)
  if (isSet(choice?.any)) return 'required'
  return isSet(choice?.auto) ? 'auto' : undefined
}

function toNamed(name: Json | undefined): ToolChoice {
  return { type: 'function', function: { name: toText(name) ?? '' } }
}
