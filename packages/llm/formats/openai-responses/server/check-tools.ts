import type { Json, JsonObject } from '../../../json/json-value.ts'
import type { FunctionTool, ToolChoice } from '../../../request/tools.ts'
import type { TargetFindings } from '../../shared/findings.ts'
import type { ToolKind } from '../../shared/parsed-chat.ts'
import { isObject, listAt, objectAt, optionalText, textAt } from '../../shared/read-fields.ts'
import { findOtherField } from '../../shared/tool-fields.ts'

/** Tools that become functions, with their fields. */
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
/** Other tools that the caller runs, with their fields. Only this format has them. */
const OWN_TOOLS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['apply_patch', new Set(['type'])],
  ['tool_search', new Set(['type', 'execution', 'description', 'parameters'])],
  ['namespace', new Set(['type', 'name', 'description', 'tools'])],
  ['computer', new Set(['type', 'display_width', 'display_height', 'environment'])],
  ['computer_use_preview', new Set(['type', 'display_width', 'display_height', 'environment'])],
  ['shell', new Set(['type', 'environment'])],
])
/** Fields of an environment on the caller's machine. */
const LOCAL_SHELL: ReadonlySet<string> = new Set(['type', 'skills'])

const SHELL_PARAMETERS: JsonObject = {
  type: 'object',
  properties: {
    command: { type: 'array', items: { type: 'string' }, description: 'The command and its arguments.' },
    working_directory: { type: 'string' },
    timeout_ms: { type: 'integer' },
  },
  required: ['command'],
}

export interface ResponsesTools {
  /** undefined: the caller sent none. */
  readonly tools: readonly FunctionTool[] | undefined
  readonly kinds: ReadonlyMap<string, ToolKind>
}

/** Tools of this format as functions, which everybody knows. What cannot be one is among the findings. */
export function parseResponsesTools(value: Json | undefined, findings: TargetFindings): ResponsesTools {
  const kinds = new Map<string, ToolKind>()
  if (value === undefined || value === null) return { tools: undefined, kinds }
  const tools: FunctionTool[] = []
  for (const [at, entry] of listAt(value, 'tools').entries()) {
    const tool = parseTool(objectAt(entry, `tools[${at}]`), `tools[${at}]`, kinds, findings)
    if (tool !== undefined) tools.push(tool)
  }
  return { tools, kinds }
}

function parseTool(
  tool: JsonObject,
  path: string,
  kinds: Map<string, ToolKind>,
  findings: TargetFindings,
): FunctionTool | undefined {
  const type = textAt(tool.type, `${path}.type`)
  if (isHostedTool(tool)) {
    findings.hosted.push(path)
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
  findings.nativeOnly.push(path)
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
  return environment.type === 'local' && findOtherField(environment, LOCAL_SHELL) === undefined
}

/** Returns the path of the first tool search that the provider runs, or undefined. It has no price of its own. */
export function findSearchTool({ tools }: JsonObject): string | undefined {
  if (!Array.isArray(tools)) return undefined
  const at = tools.findIndex(
    tool => isObject(tool) && tool.type === 'tool_search' && tool.execution !== 'client',
  )
  return at < 0 ? undefined : `tools[${at}]`
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

/** Free text becomes the one argument `input`; a grammar can only be described. */
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

export function parseResponsesToolChoice(
  value: Json | undefined,
  findings: TargetFindings,
): ToolChoice | undefined {
  if (value === undefined || value === null) return undefined
  if (value === 'auto' || value === 'none' || value === 'required') return value
  const choice = objectAt(value, 'tool_choice')
  if ((choice.type === 'function' || choice.type === 'custom') && typeof choice.name === 'string') {
    return { type: 'function', function: { name: choice.name } }
  }
  findings.nativeOnly.push('tool_choice')
  return undefined
}
