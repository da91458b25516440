import type { Json, JsonObject } from '../../../json/json-value.ts'
import { isObject } from '../../../json/json-value.ts'
import type { FunctionTool, ToolChoice } from '../../../request/tools.ts'
import { invalid, listAt, objectAt, optionalText, textAt } from '../../shared/reading/read-fields.ts'
import { toolNameAt } from '../../shared/tools/call-fields.ts'
import { findHostedTool, isConnector } from '../wire/hosted-tools.ts'
import { isHostedTool } from '../wire/tool-rules.ts'
import { addHosted, type InputFindings, isMarked } from './input-findings.ts'
import type { ToolTable } from './tool-table.ts'

const SHELL_PARAMETERS: JsonObject = {
  type: 'object',
  properties: {
    command: { type: 'array', items: { type: 'string' }, description: 'The command and its arguments.' },
    working_directory: { type: 'string' },
    timeout_ms: { type: 'integer' },
  },
  required: ['command'],
}

/** The parameters of a search among the caller's own tools, where the caller names none. */
const SEARCH_PARAMETERS: JsonObject = {
  type: 'object',
  properties: { query: { type: 'string' } },
  required: ['query'],
}

/**
 * Adds the tools of a list as functions, which every format has. Tools that cannot be functions are added to `findings`.
 * `path`: of the list.
 */
export function parseTools(
  value: Json | undefined,
  path: string,
  table: ToolTable,
  findings: InputFindings,
): void {
  if (value === undefined || value === null) return
  const spaces: { readonly space: JsonObject; readonly at: string }[] = []
  for (const [index, entry] of listAt(value, path).entries()) {
    const at = `${path}[${index}]`
    const tool = objectAt(entry, at)
    const type = textAt(tool.type, `${at}.type`)
    if (isMarked(tool)) findings.hasCacheMark = true
    if (type === 'namespace' && !isHostedTool(tool)) spaces.push({ space: tool, at })
    else parseTool(tool, type, at, table, findings)
  }
  // Last, so that a tool outside of namespaces keeps its name.
  for (const { space, at } of spaces) parseNamespace(space, at, table, findings)
}

function parseTool(
  tool: JsonObject,
  type: string,
  path: string,
  table: ToolTable,
  findings: InputFindings,
): void {
  if (type === 'tool_search' && tool.execution !== 'client') findings.searchTool ??= path
  const hosted = findHostedTool(tool)
  if (hosted !== undefined) findings.hostedTools.push({ path, type: hosted.type })
  else if (isHostedTool(tool)) addHosted(findings, path, isConnector(tool))
  else if (type === 'tool_search' && tool.execution !== 'client') {
    findings.hostedTools.push({ path, type: undefined, isFree: true })
  } else if (type === 'function') table.add(parseFunction(tool, path), 'function')
  else if (type === 'custom') table.add(parseCustom(tool, path), 'custom')
  else if (type === 'local_shell') {
    const description = 'Runs a command on the machine of the user and returns what it prints.'
    table.add(toFunction(type, description, SHELL_PARAMETERS), type)
  } else if (type === 'tool_search') {
    const description = optionalText(tool, 'description', `${path}.description`) ?? 'Finds further tools.'
    const parameters = isObject(tool.parameters) ? tool.parameters : SEARCH_PARAMETERS
    table.add(toFunction(type, description, parameters), type)
  } else findings.nativeOnly.push(path)
}

/** The tools of a namespace, each with the description of the namespace before its own. */
function parseNamespace(space: JsonObject, path: string, table: ToolTable, findings: InputFindings): void {
  const namespace = namespaceAt(space.name ?? '', `${path}.name`)
  const about = optionalText(space, 'description', `${path}.description`) ?? ''
  for (const [index, entry] of listAt(space.tools ?? [], `${path}.tools`).entries()) {
    const at = `${path}.tools[${index}]`
    const tool = objectAt(entry, at)
    if (isMarked(tool)) findings.hasCacheMark = true
    const isCustom = tool.type === 'custom'
    const { type, function: fn } = isCustom ? parseCustom(tool, at) : parseFunction(tool, at)
    const description = table.describe(about, fn.description ?? '')
    const described = description === '' ? fn : { ...fn, description }
    table.add({ type, function: described }, isCustom ? 'custom' : 'function', namespace)
  }
}

/** Every tool of a namespace has its name, so it is bounded. */
const MAX_NAMESPACE = 256

export function namespaceAt(value: Json, path: string): string {
  const namespace = textAt(value, path)
  if (namespace.length > MAX_NAMESPACE) throw invalid(path, `must have at most ${MAX_NAMESPACE} characters.`)
  return namespace
}

function toFunction(name: string, description: string, parameters: JsonObject): FunctionTool {
  return { type: 'function', function: { name, description, parameters } }
}

/** Some editors nest a function as chat completions do. */
function parseFunction(entry: JsonObject, path: string): FunctionTool {
  const tool = isObject(entry.function) ? entry.function : entry
  const name = toolNameAt(tool.name, `${path}.name`)
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
function parseCustom(tool: JsonObject, path: string): FunctionTool {
  const name = toolNameAt(tool.name, `${path}.name`)
  const given = optionalText(tool, 'description', `${path}.description`) ?? ''
  const format = isObject(tool.format) ? tool.format : {}
  const grammar =
    format.type === 'grammar' && typeof format.definition === 'string'
      ? `\nThe input must follow this ${String(format.syntax)} grammar:\n${format.definition}`
      : ''
  const input = { type: 'string', description: `The whole input of the tool, as plain text.${grammar}` }
  return toFunction(name, given, { type: 'object', properties: { input }, required: ['input'] })
}

/** The choice among tools. One that other formats do not have, such as `allowed_tools`, is added to `findings`. */
export function parseToolChoice(
  value: Json | undefined,
  table: ToolTable,
  findings: InputFindings,
): ToolChoice | undefined {
  if (value === undefined || value === null) return undefined
  if (value === 'auto' || value === 'none' || value === 'required') return value
  const choice = objectAt(value, 'tool_choice')
  const { type, name, namespace } = choice
  if ((type === 'function' || type === 'custom') && typeof name === 'string') {
    const flat = table.nameOf(name, typeof namespace === 'string' ? namespace : undefined)
    return { type: 'function', function: { name: flat } }
  }
  // Any of its tools.
  if (type === 'namespace') return 'auto'
  const index = findings.hostedTools.findIndex(hosted => hosted.type !== undefined && hosted.type === type)
  const chosen = findings.hostedTools[index]
  if (chosen === undefined) findings.nativeOnly.push('tool_choice')
  else findings.hostedTools[index] = { ...chosen, choicePath: 'tool_choice' }
  return undefined
}
