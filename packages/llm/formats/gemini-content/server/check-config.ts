import type { JsonObject } from '../../../json/json-value.ts'
import { joinPath } from '../../shared/field-path.ts'
import type { TargetFindings } from '../../shared/findings.ts'
import {
  invalid,
  listAt,
  optionalFlag,
  optionalNumber,
  optionalObject,
  optionalText,
  textAt,
} from '../../shared/read-fields.ts'
import { refuseReservedName } from '../../shared/reserved-fields.ts'

/** Fields of `generationConfig` that mean the same everywhere. */
const READ: ReadonlySet<string> = new Set([
  ...['maxOutputTokens', 'temperature', 'topP', 'seed', 'presencePenalty', 'frequencyPenalty'],
  ...['stopSequences', 'responseMimeType', 'responseSchema', 'responseJsonSchema', 'thinkingConfig'],
  ...['candidateCount', 'responseModalities'],
])
/** Fields that only a provider of the format knows. */
const NATIVE: ReadonlySet<string> = new Set([
  ...['topK', 'mediaResolution', 'responseLogprobs', 'logprobs', 'audioTimestamp'],
  'enableEnhancedCivicAnswers',
])
/** Of those, what an end user may set too: it costs nothing and filters nothing. */
const FREE: ReadonlySet<string> = new Set([...READ, 'topK'])

const INTEGER = { integer: true }
const FORMATS: ReadonlySet<string> = new Set(['text/plain', 'application/json'])

/** Checks what the gateway relies on in `generationConfig`, and notes what not every target can honour. */
export function checkConfig(body: JsonObject, findings: TargetFindings): void {
  const config = optionalObject(body, 'generationConfig')
  if (config === undefined) return
  const at = (name: string): string => joinPath('generationConfig', name)
  for (const [name, value] of Object.entries(config)) {
    if (value === null || READ.has(name)) continue
    if (!NATIVE.has(name)) {
      refuseReservedName(name, at(name))
      findings.unread.push(at(name))
    } else if (value !== false) findings.nativeOnly.push(at(name))
  }
  optionalNumber(config, 'maxOutputTokens', { min: 1, integer: true }, at('maxOutputTokens'))
  for (const name of ['temperature', 'topP', 'presencePenalty', 'frequencyPenalty'])
    optionalNumber(config, name, {}, at(name))
  optionalNumber(config, 'seed', INTEGER, at('seed'))
  if ((config.candidateCount ?? 1) !== 1) throw invalid(at('candidateCount'), 'must be 1.')
  checkTexts(config, 'stopSequences', at('stopSequences'))
  checkModalities(config, at('responseModalities'))
  const type = optionalText(config, 'responseMimeType', at('responseMimeType'))
  if (type !== undefined && !FORMATS.has(type)) findings.nativeOnly.push(at('responseMimeType'))
  for (const name of ['responseSchema', 'responseJsonSchema']) optionalObject(config, name, at(name))
  checkThinking(config, at('thinkingConfig'), findings)
}

const THINKING = ['includeThoughts', 'thinkingLevel', 'thinkingBudget']

function checkThinking(config: JsonObject, path: string, findings: TargetFindings): void {
  const thinking = optionalObject(config, 'thinkingConfig', path)
  if (thinking === undefined) return
  noteUnread(thinking, path, THINKING, findings)
  optionalFlag(thinking, 'includeThoughts', `${path}.includeThoughts`)
  optionalText(thinking, 'thinkingLevel', `${path}.thinkingLevel`)
  optionalNumber(thinking, 'thinkingBudget', INTEGER, `${path}.thinkingBudget`)
}

function checkModalities(config: JsonObject, path: string): void {
  for (const kind of checkTexts(config, 'responseModalities', path)) {
    if (kind.toUpperCase() === 'TEXT') continue
    throw invalid(path, 'must be TEXT alone: images and audio have prices of their own.')
  }
}

/** Notes what stands in an object besides what is known of it. */
export function noteUnread(
  object: JsonObject,
  path: string,
  known: readonly string[],
  findings: TargetFindings,
): void {
  for (const [name, value] of Object.entries(object)) {
    if (value !== null && value !== undefined && !known.includes(name))
      findings.unread.push(joinPath(path, name))
  }
}

export function checkTexts(source: JsonObject, name: string, path: string): readonly string[] {
  const value = source[name]
  if (value === undefined || value === null) return []
  return listAt(value, path).map((each, i) => textAt(each, `${path}[${i}]`))
}

/** A field that the gateway does not read, which client tokens may not send. */
export function findUnreadConfig(config: JsonObject, toName: (given: string) => string): string | undefined {
  for (const given in config) if (!FREE.has(toName(given))) return `generationConfig.${given}`
  return undefined
}
