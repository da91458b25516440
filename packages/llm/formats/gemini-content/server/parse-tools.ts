import type { Json, JsonObject } from '../../../json/json-value.ts'
import type { FunctionTool, ToolChoice } from '../../../request/tools.ts'
import type { Grant } from '../../../upstream/outgoing-rules.ts'
import { joinPath } from '../../shared/reading/field-path.ts'
import { listAt, objectAt, optionalObject, optionalText, textsAt } from '../../shared/reading/read-fields.ts'
import type { MutableRequest } from '../../shared/requests/field-table.ts'
import type { TargetFindings } from '../../shared/requests/findings.ts'
import { toolNameAt } from '../../shared/tools/call-fields.ts'
import { connects } from '../../shared/tools/connecting-tools.ts'
import { HOSTED_RULES, UNPRICED_TOOLS } from '../wire/content-rules.ts'
import { decodeSchema } from './decode-schema.ts'
import { noteNativeOnly, noteUnknownFields } from './note-unknown-fields.ts'

/** Sets the functions of a request and the choice among them. */
export function parseTools(body: JsonObject, request: MutableRequest, findings: TargetFindings): void {
  const declared = parseDeclared(body.tools, findings)
  const { mode, names } = parseToolConfig(body, findings)
  // Other formats have one choice, of all functions or a single one: the others are left out.
  const allowed = new Set(names)
  const tools = names.length === 0 ? declared : declared.filter(tool => allowed.has(tool.function.name))
  if (tools.length === 0) return
  request.tools = tools
  const choice = toToolChoice(mode, names)
  if (choice !== undefined) request.toolChoice = choice
}

function parseDeclared(value: Json | undefined, findings: TargetFindings): FunctionTool[] {
  if (value === undefined || value === null) return []
  const tools: FunctionTool[] = []
  for (const [at, entry] of listAt(value, 'tools').entries()) {
    const tool = objectAt(entry, `tools[${at}]`)
    for (const name in tool) {
      const given = tool[name]
      if (given === null) continue
      const path = joinPath(`tools[${at}]`, name)
      // The provider runs every other kind of tool.
      if (name !== 'functionDeclarations') noteHosted(name, given as Json, path, findings)
      else {
        for (const [index, declared] of listAt(given, path).entries()) {
          tools.push(parseFunction(declared, `${path}[${index}]`, findings))
        }
      }
    }
  }
  return tools
}

function noteHosted(name: string, value: Json, path: string, findings: TargetFindings): void {
  const rule = HOSTED_RULES.get(name)
  if (rule !== undefined) {
    const isKnown = rule.check(value, NO_GRANT) === undefined
    findings.hostedTools.push({ path, type: isKnown ? name : undefined })
  } else if (UNPRICED_TOOLS.has(name)) findings.hostedTools.push({ path, type: undefined })
  else findings.hosted.push(path)
  if (CONNECTORS.has(name) || connects(value)) findings.connectors.push(path)
}

/** Tools that search stores of the account, or call other servers. */
const CONNECTORS: ReadonlySet<string> = new Set(['fileSearch', 'retrieval', 'mcpServers', 'externalApi'])

/** The rules of these tools do not depend on the grant. */
const NO_GRANT: Grant = {
  sender: 'key',
  model: '',
  isStream: false,
  choices: 1,
  maxOutputTokens: undefined,
  addresses: 'any',
}

const DECLARED_FIELDS = ['name', 'description', 'parameters', 'parametersJsonSchema']
/** Fields of a declaration that no other format has. */
const NATIVE_DECLARED_FIELDS = ['behavior']
/** They describe the result, which callers send in any form: a target of another format goes without. */
const RESULT_FIELDS = ['response', 'responseJsonSchema']
const KNOWN_DECLARED_FIELDS = [...DECLARED_FIELDS, ...NATIVE_DECLARED_FIELDS, ...RESULT_FIELDS]

/** The schema of a function without parameters. */
const EMPTY: JsonObject = { type: 'object', properties: {} }

function parseFunction(value: Json, path: string, findings: TargetFindings): FunctionTool {
  const declared = objectAt(value, path)
  noteUnknownFields(declared, path, KNOWN_DECLARED_FIELDS, findings)
  const name = toolNameAt(declared.name, `${path}.name`)
  const description = optionalText(declared, 'description', `${path}.description`)
  const older = optionalObject(declared, 'parameters', `${path}.parameters`)
  const newer = optionalObject(declared, 'parametersJsonSchema', `${path}.parametersJsonSchema`)
  noteNativeOnly(declared, path, NATIVE_DECLARED_FIELDS, findings)
  const parameters = newer ?? (older === undefined ? EMPTY : decodeSchema(older))
  return {
    type: 'function',
    function: description === undefined ? { name, parameters } : { name, description, parameters },
  }
}

const CALLING = 'toolConfig.functionCallingConfig'
const CALLING_FIELDS = ['mode', 'allowedFunctionNames', 'streamFunctionCallArguments']

interface FunctionCallingConfig {
  readonly mode: string | undefined
  /** The functions that may be called; empty: all. */
  readonly names: readonly string[]
}

const ANY_FUNCTION: FunctionCallingConfig = { mode: undefined, names: [] }

function parseToolConfig(body: JsonObject, findings: TargetFindings): FunctionCallingConfig {
  const config = optionalObject(body, 'toolConfig')
  if (config === undefined) return ANY_FUNCTION
  for (const name in config) {
    const value = config[name]
    if (name === 'functionCallingConfig' || value === null || value === false) continue
    findings.nativeOnly.push(joinPath('toolConfig', name))
  }
  const calling = optionalObject(config, 'functionCallingConfig', CALLING)
  if (calling === undefined) return ANY_FUNCTION
  noteUnknownFields(calling, CALLING, CALLING_FIELDS, findings)
  const allowed = calling.allowedFunctionNames
  return {
    mode: optionalText(calling, 'mode', `${CALLING}.mode`),
    names:
      allowed === undefined || allowed === null ? [] : textsAt(allowed, `${CALLING}.allowedFunctionNames`),
  }
}

function toToolChoice(mode: string | undefined, names: readonly string[]): ToolChoice | undefined {
  const [first] = names
  switch (mode?.toUpperCase()) {
    case 'NONE':
      return 'none'
    case 'ANY':
      return names.length === 1 && first !== undefined
        ? { type: 'function', function: { name: first } }
        : 'required'
    // VALIDATED makes calls fit their schema, which other providers do by themselves.
    case 'AUTO':
    case 'VALIDATED':
      return 'auto'
    default:
      return undefined
  }
}

/** Thresholds that only loosen a filter: providers without such filters do no more than that. */
const LOOSE: ReadonlySet<Json | undefined> = new Set([
  ...['BLOCK_NONE', 'OFF', 'BLOCK_ONLY_HIGH', 'HARM_BLOCK_THRESHOLD_UNSPECIFIED'],
  undefined,
  null,
])

/** Returns true if one of the `safetySettings` makes a filter stricter. Throws RequestError. */
export function hasStrictFilter(value: Json | undefined): boolean {
  if (value === undefined || value === null) return false
  let isStrict = false
  for (const [at, safetySetting] of listAt(value, 'safetySettings').entries()) {
    const { threshold } = objectAt(safetySetting, `safetySettings[${at}]`)
    if (!LOOSE.has(threshold)) isStrict = true
  }
  return isStrict
}
