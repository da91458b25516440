import type { Json, JsonObject } from '../../../json/json-value.ts'
import type { FunctionTool, ToolChoice } from '../../../request/tools.ts'
import type { ToolKind } from '../../shared/parsed-chat.ts'
import { isObject, listAt, objectAt, optionalText, textAt } from '../../shared/read-fields.ts'
import { isHostedTool } from '../wire/tool-rules.ts'
import { type Found, isMarked } from './found.ts'

const SHELL_PARAMETERS: JsonObject = {
  type: 'object',
  properties: {
    command: { type: 'array', items: { type: 'string' }, description: 'The command and its arguments.' },
    working_directory: { type: 'string' },
    timeout_ms: { type: 'integer' },
  },
  required: ['command'],
}

export interface ParsedTools {
  /** undefined: the caller sent none. */
  readonly tools: readonly FunctionTool[] | undefined
  /** By the name of the function that a tool of another kind became. */
  readonly kinds: ReadonlyMap<string, ToolKind>
}

/** The tools of a request as functions, which every format has. Tools that cannot be functions are added to `found`. */
export function parseTools(value: Json | undefined, found: Found): ParsedTools {
  const kinds = new Map<string, ToolKind>()
  if (value === undefined || value === null) return { tools: undefined, kinds }
  const tools: FunctionTool[] = []
  for (const [at, entry] of listAt(value, 'tools').entries()) {
    const tool = parseTool(objectAt(entry, `tools[${at}]`), `tools[${at}]`, kinds, found)
    if (tool !== undefined) tools.push(tool)
  }
  return { tools, kinds }
}

function parseTool(
  tool: JsonObject,
  path: string,
  kinds: Map<string, ToolKind>,
  found: Found,
): FunctionTool | undefined {
  const type = textAt(tool.type, `${path}.type`)
  if (isMarked(tool)) found.hasCacheMark = true
  if (type === 'tool_search' && tool.execution !== 'client') found.searchTool ??= path
  if (isHostedTool(tool)) {
    found.hosted.push(path)
    return undefined
  }
  if (type === 'function') return parseFunction(tool, path)
  if (type === 'custom') {
    const name = textAt(tool.name, `${path}.name`)
    kinds.set(name, 'custom')
    return { type: 'function', function: { name, ...describeCustom(tool, path) } }
  }
  if (type === 'local_shell') {
    kinds.set(type, type)
    const description = 'Runs a command on the machine of the user and returns what it prints.'
    return { type: 'function', function: { name: type, description, parameters: SHELL_PARAMETERS } }
  }
  found.nativeOnly.push(path)
  return undefined
}

/** Some editors nest a function as chat completions do. */
function parseFunction(entry: JsonObject, path: string): FunctionTool {
  const tool = isObject(entry.function) ? entry.function : entry
  const name = textAt(tool.name, `${path}.name`)
  const description = optionalText(tool, 'description', `${path}.description`)
  const { parameters } = tool
  return {
    type: 'function',
    function: {
      name,
      ...(description === undefined ? {} : { description }),
      ...(isObject(parameters) ? { parameters } : {}),
      ...(typeof tool.strict === 'boolean' ? { strict: tool.strict } : {}),
    },
  }
}

/** A tool that takes free text becomes a function with the one argument `input`, whose description states the grammar. */
function describeCustom(tool: JsonObject, path: string): { description: string; parameters: JsonObject } {
  const given = optionalText(tool, 'description', `${path}.description`) ?? ''
  const format = isObject(tool.format) ? tool.format : {}
  const grammar =
    format.type === 'grammar' && typeof format.definition === 'string'
      ? `\nThe input must follow this ${String(format.syntax)} grammar:\n${format.definition}`
      : ''
  const input = { type: 'string', description: `The whole input of the tool, as plain text.${grammar}` }
  return { description: given, parameters: { type: 'object', properties: { input }, required: ['input'] } }
}

/** A choice that other formats do not have, such as `allowed_tools`, is added to `found`. */
export function parseToolChoice(value: Json | undefined, found: Found): ToolChoice | undefined {
  if (value === undefined || value === null) return undefined
  if (value === 'auto' || value === 'none' || value === 'required') return value
  const choice = objectAt(value, 'tool_choice')
  if ((choice.type === 'function' || choice.type === 'custom') && typeof choice.name === 'string') {
    return { type: 'function', function: { name: choice.name } }
  }
  found.nativeOnly.push('tool_choice')
  return undefined
}
