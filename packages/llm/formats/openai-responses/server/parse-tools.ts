import type { Json, JsonObject } from '../../../json/json-value.ts'
import type { FunctionTool, ToolChoice } from '../../../request/tools.ts'
import type { ToolKind } from '../../shared/parsed-chat.ts'
import { isObject, listAt, objectAt, optionalText, textAt } from '../../shared/read-fields.ts'
import { findOtherField } from '../../shared/tool-fields.ts'
import { type Found, isMarked } from './found.ts'

/** Kinds of tools that become functions for other formats, with all their fields. */
const AS_FUNCTIONS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [
    'function',
    new Set([
      ...['type', 'name', 'description', 'parameters', 'strict', 'function', 'defer_loading'],
      ...['output_schema', 'input_examples', 'cache_control', 'allowed_callers', 'id'],
    ]),
  ],
  ['custom', new Set(['type', 'name', 'description', 'format', 'defer_loading', 'cache_control', 'id'])],
  ['local_shell', new Set(['type'])],
])
/** Other kinds of tools that the caller runs, with all their fields. Only this format has them. */
const OWN_TOOLS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['apply_patch', new Set(['type'])],
  ['tool_search', new Set(['type', 'execution', 'description', 'parameters'])],
  ['namespace', new Set(['type', 'name', 'description', 'tools'])],
  ['computer', new Set(['type', 'display_width', 'display_height', 'environment'])],
  ['computer_use_preview', new Set(['type', 'display_width', 'display_height', 'environment'])],
  ['shell', new Set(['type', 'environment'])],
])
/** Fields of a shell's environment on the caller's machine. */
const LOCAL_ENVIRONMENT: ReadonlySet<string> = new Set(['type', 'skills'])

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

/** Does the provider run the tool, or a tool inside it? Unknown types and fields count as yes. */
export function isHostedTool(value: Json): boolean {
  if (!isObject(value) || typeof value.type !== 'string') return true
  const known = AS_FUNCTIONS.get(value.type) ?? OWN_TOOLS.get(value.type)
  if (known === undefined || findOtherField(value, known) !== undefined) return true
  if (value.type === 'namespace') return isHostedWithin(value.tools)
  return value.type === 'shell' && !isLocal(value.environment)
}

/** A namespace may contain functions and custom tools only. */
function isHostedWithin(tools: Json | undefined): boolean {
  if (tools === undefined || tools === null) return false
  if (!Array.isArray(tools)) return true
  return tools.some(tool => isHostedTool(tool) || !isObject(tool) || !IN_NAMESPACES.has(tool.type))
}

const IN_NAMESPACES: ReadonlySet<Json | undefined> = new Set(['function', 'custom'])

function isLocal(environment: Json | undefined): boolean {
  if (environment === undefined || environment === null) return true
  if (!isObject(environment)) return false
  return environment.type === 'local' && findOtherField(environment, LOCAL_ENVIRONMENT) === undefined
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
