import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import { joinPath } from '../../shared/field-path.ts'
import type { TargetFindings } from '../../shared/findings.ts'
import { invalid, listAt, objectAt, optionalObject, optionalText, textAt } from '../../shared/read-fields.ts'
import { checkTexts, noteUnread } from './check-config.ts'
import { isKeptAtProvider } from './decode-parts.ts'

/** Checks of what the gateway relies on in a body of Gemini's generateContent; the provider judges the rest. */

/** `function` is how the first version of the API called who answers calls. */
const ROLES: ReadonlySet<Json | undefined> = new Set([undefined, null, 'user', 'model', 'function'])

const CONTENT = ['role', 'parts']

export function checkContents(body: JsonObject, findings: TargetFindings): void {
  const instruction = optionalObject(body, 'systemInstruction')
  if (instruction !== undefined) {
    noteUnread(instruction, 'systemInstruction', CONTENT, findings)
    checkParts(instruction.parts, 'systemInstruction.parts', findings)
  }
  const contents = listAt(body.contents, 'contents')
  if (contents.length === 0) throw invalid('contents', 'must have at least one content.')
  for (const [i, value] of contents.entries()) {
    const path = `contents[${i}]`
    const content = objectAt(value, path)
    if (!ROLES.has(content.role)) throw invalid(`${path}.role`, 'must be user or model.')
    noteUnread(content, path, CONTENT, findings)
    checkParts(content.parts, `${path}.parts`, findings)
  }
}

/** What stands beside a part's content, and what is content that only a provider of the format knows. */
const NATIVE_PARTS: ReadonlySet<string> = new Set([
  ...['videoMetadata', 'mediaResolution', 'partMetadata', 'executableCode', 'codeExecutionResult'],
  ...['toolCall', 'toolResponse'],
])

function checkParts(value: Json | undefined, path: string, findings: TargetFindings): void {
  if (value === undefined || value === null) return
  for (const [i, each] of listAt(value, path).entries())
    checkPart(objectAt(each, `${path}[${i}]`), `${path}[${i}]`, findings)
}

function checkPart(part: JsonObject, path: string, findings: TargetFindings): void {
  for (const [name, value] of Object.entries(part)) {
    if (value === null || value === undefined) continue
    const at = joinPath(path, name)
    const check = PARTS[name]
    if (check !== undefined) check(value, at, findings)
    else if (NATIVE_PARTS.has(name)) findings.nativeOnly.push(at)
    else findings.unread.push(at)
  }
}

const RESULT = ['id', 'name', 'response', 'parts', 'scheduling', 'willContinue']

type Check = (value: Json, path: string, findings: TargetFindings) => void

const PARTS: Readonly<Record<string, Check | undefined>> = toTable({
  text: textAt,
  thought: () => undefined,
  thoughtSignature: textAt,
  inlineData: (value, path, findings) => {
    const blob = objectAt(value, path)
    noteUnread(blob, path, ['mimeType', 'data', 'displayName'], findings)
    textAt(blob.mimeType, `${path}.mimeType`)
    textAt(blob.data, `${path}.data`)
  },
  fileData: (value, path, findings) => {
    const file = objectAt(value, path)
    noteUnread(file, path, ['mimeType', 'fileUri', 'displayName'], findings)
    const at = `${path}.fileUri`
    if (isKeptAtProvider(textAt(file.fileUri, at))) findings.stateful.push(at)
    optionalText(file, 'mimeType', `${path}.mimeType`)
  },
  functionCall: (value, path, findings) => {
    const call = objectAt(value, path)
    noteUnread(call, path, ['id', 'name', 'args'], findings)
    textAt(call.name, `${path}.name`)
    optionalText(call, 'id', `${path}.id`)
    optionalObject(call, 'args', `${path}.args`)
  },
  functionResponse: (value, path, findings) => {
    const result = objectAt(value, path)
    noteUnread(result, path, RESULT, findings)
    textAt(result.name, `${path}.name`)
    optionalText(result, 'id', `${path}.id`)
    optionalObject(result, 'response', `${path}.response`)
    checkParts(result.parts, `${path}.parts`, findings)
    for (const name of ['scheduling', 'willContinue'])
      if (result[name] !== undefined && result[name] !== null) findings.nativeOnly.push(`${path}.${name}`)
  },
})

const DECLARED = ['name', 'description', 'parameters', 'parametersJsonSchema']
/** What a declaration says besides those; no other format has words for it. */
const NATIVE_DECLARED = ['behavior', 'response', 'responseJsonSchema']

export function checkTools(body: JsonObject, findings: TargetFindings): void {
  if (body.tools === undefined || body.tools === null) return
  for (const [i, value] of listAt(body.tools, 'tools').entries()) {
    const tool = objectAt(value, `tools[${i}]`)
    for (const [name, given] of Object.entries(tool)) {
      if (given === null) continue
      const path = joinPath(`tools[${i}]`, name)
      // Everything but functions is run by the provider, at a price of its own.
      if (name === 'functionDeclarations') checkDeclarations(given, path, findings)
      else findings.hosted.push(path)
    }
  }
}

function checkDeclarations(value: Json | undefined, path: string, findings: TargetFindings): void {
  for (const [i, each] of listAt(value, path).entries()) {
    const at = `${path}[${i}]`
    const declared = objectAt(each, at)
    noteUnread(declared, at, [...DECLARED, ...NATIVE_DECLARED], findings)
    textAt(declared.name, `${at}.name`)
    optionalText(declared, 'description', `${at}.description`)
    for (const name of ['parameters', 'parametersJsonSchema']) optionalObject(declared, name, `${at}.${name}`)
    for (const name of NATIVE_DECLARED) {
      if (declared[name] !== undefined && declared[name] !== null) findings.nativeOnly.push(`${at}.${name}`)
    }
  }
}

export function checkToolConfig(body: JsonObject, findings: TargetFindings): void {
  const config = optionalObject(body, 'toolConfig')
  if (config === undefined) return
  for (const [name, value] of Object.entries(config)) {
    if (name !== 'functionCallingConfig' && value !== null && value !== false)
      findings.nativeOnly.push(joinPath('toolConfig', name))
  }
  const path = 'toolConfig.functionCallingConfig'
  const calling = optionalObject(config, 'functionCallingConfig', path)
  if (calling === undefined) return
  noteUnread(calling, path, ['mode', 'allowedFunctionNames', 'streamFunctionCallArguments'], findings)
  optionalText(calling, 'mode', `${path}.mode`)
  checkTexts(calling, 'allowedFunctionNames', `${path}.allowedFunctionNames`)
}

/** What only loosens a filter: providers without such filters do no more than that. */
const LOOSE: ReadonlySet<Json | undefined> = new Set([
  ...['BLOCK_NONE', 'OFF', 'BLOCK_ONLY_HIGH', 'HARM_BLOCK_THRESHOLD_UNSPECIFIED'],
  undefined,
  null,
])

export function checkSafety(body: JsonObject, findings: TargetFindings): void {
  if (body.safetySettings === undefined || body.safetySettings === null) return
  const settings = listAt(body.safetySettings, 'safetySettings').map((value, i) =>
    objectAt(value, `safetySettings[${i}]`),
  )
  if (settings.some(({ threshold }) => !LOOSE.has(threshold))) findings.nativeOnly.push('safetySettings')
}
