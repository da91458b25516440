import type { Json, JsonObject } from '../../../json/json-value.ts'
import type { FunctionTool, ToolChoice } from '../../../request/tools.ts'
import type { ToolKind } from '../../shared/chat-call.ts'
import type { Findings } from '../../shared/findings.ts'
import { isObject, listAt, objectAt, optionalText, textAt } from '../../shared/read-fields.ts'

/** Tools that the caller runs, and that only this format has. */
const OWN_TOOLS: ReadonlySet<string> = new Set([
  'apply_patch',
  'tool_search',
  'namespace',
  'computer',
  'computer_use_preview',
])

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
export function parseResponsesTools(value: Json | undefined, findings: Findings): ResponsesTools {
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
  findings: Findings,
): FunctionTool | undefined {
  const type = textAt(tool.type, `${path}.type`)
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
  if (isRunByCaller(tool, type)) findings.nativeOnly.push(path)
  else findings.hosted.push(path)
  return undefined
}

function isRunByCaller({ environment }: JsonObject, type: string): boolean {
  if (OWN_TOOLS.has(type)) return true
  return type === 'shell' && (!isObject(environment) || environment.type === 'local')
}

/** A tool that others bring along in a list of their own: is it one that its provider runs? */
export function isHostedTool(value: Json): boolean {
  if (!isObject(value) || typeof value.type !== 'string') return true
  const isOurs = value.type === 'function' || value.type === 'custom' || value.type === 'local_shell'
  return !isOurs && !isRunByCaller(value, value.type)
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
  findings: Findings,
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
