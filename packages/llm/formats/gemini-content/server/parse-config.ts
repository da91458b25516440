import type { JsonObject } from '../../../json/json-value.ts'
import { toText } from '../../../json/json-value.ts'
import type { ResponseFormat } from '../../../request/response-format.ts'
import { JsonTexts } from '../../../upstream/json-texts.ts'
import { joinPath } from '../../shared/reading/field-path.ts'
import {
  invalid,
  optionalFlag,
  optionalNumber,
  optionalObject,
  optionalText,
  set,
  textsAt,
} from '../../shared/reading/read-fields.ts'
import type { MutableRequest } from '../../shared/requests/field-table.ts'
import type { TargetFindings } from '../../shared/requests/findings.ts'
import { assertNotReservedName } from '../../shared/requests/reserved-fields.ts'
import { CONFIG_FIELDS } from '../wire/fields.ts'
import { decodeSchema } from './decode-schema.ts'
import { noteUnknownFields } from './note-unknown-fields.ts'

const PATH = 'generationConfig'

export interface ParsedConfig {
  /** Answers that are asked for. */
  readonly choices: number
  readonly showsThoughts: boolean
}

const NO_CONFIG: ParsedConfig = { choices: 1, showsThoughts: false }

/**
 * Sets what `generationConfig` asks in the request. Throws RequestError on a value of the wrong form and on what the
 * gateway could not bill. Fields that not every target can honour are added to the findings.
 */
export function parseConfig(
  body: JsonObject,
  request: MutableRequest,
  findings: TargetFindings,
): ParsedConfig {
  const config = optionalObject(body, PATH)
  if (config === undefined) return NO_CONFIG
  noteFields(config, findings)
  CONFIG_FIELDS.read(config, request, `${PATH}.`)
  if (request.stop?.length === 0) delete request.stop
  if ((config.candidateCount ?? 1) !== 1) throw invalid(`${PATH}.candidateCount`, 'must be 1.')
  assertTextOnly(config)
  set(request, 'responseFormat', parseFormat(config))
  const thinking = optionalObject(config, 'thinkingConfig', THINKING)
  if (thinking === undefined) return NO_CONFIG
  set(request, 'reasoningEffort', parseEffort(thinking, findings))
  const showsThoughts = optionalFlag(thinking, 'includeThoughts', `${THINKING}.includeThoughts`) ?? false
  return { choices: 1, showsThoughts }
}

function noteFields(config: JsonObject, findings: TargetFindings): void {
  const texts = new JsonTexts()
  for (const name in config) {
    const value = config[name]
    if (value === undefined || value === null) continue
    const path = joinPath(PATH, name)
    if (CONFIG_FIELDS.names.has(name)) {
      if (CONFIG_FIELDS.isFormatSpecific(name, value)) findings.nativeOnly.push(path)
    } else {
      assertNotReservedName(name, path, texts)
      findings.unknownFields.push(path)
    }
  }
}

function assertTextOnly({ responseModalities: kinds }: JsonObject): void {
  const path = `${PATH}.responseModalities`
  if (kinds === undefined || kinds === null) return
  for (const kind of textsAt(kinds, path)) {
    if (kind.toUpperCase() === 'TEXT') continue
    throw invalid(path, 'must be TEXT alone: images and audio have prices of their own.')
  }
}

function parseFormat(config: JsonObject): ResponseFormat | undefined {
  const type = optionalText(config, 'responseMimeType', `${PATH}.responseMimeType`)
  const older = optionalObject(config, 'responseSchema', `${PATH}.responseSchema`)
  const newer = optionalObject(config, 'responseJsonSchema', `${PATH}.responseJsonSchema`)
  const schema = newer ?? (older === undefined ? undefined : decodeSchema(older))
  if (schema !== undefined) return { type: 'json_schema', json_schema: { name: 'answer', schema } }
  return type === 'application/json' ? { type: 'json_object' } : undefined
}

const THINKING = `${PATH}.thinkingConfig`
const THINKING_FIELDS = ['includeThoughts', 'thinkingLevel', 'thinkingBudget']

/** Budgets up to which an effort is low or medium, in tokens: as Gemini's own OpenAI-format address has them. */
const LOW_BUDGET = 1024
const MEDIUM_BUDGET = 8192

/** undefined: the model decides. */
function parseEffort(thinking: JsonObject, findings: TargetFindings): string | undefined {
  noteUnknownFields(thinking, THINKING, THINKING_FIELDS, findings)
  const given = optionalText(thinking, 'thinkingLevel', `${THINKING}.thinkingLevel`)
  const budget = optionalNumber(thinking, 'thinkingBudget', { integer: true }, `${THINKING}.thinkingBudget`)
  const level = toText(given)?.toLowerCase()
  if (level !== undefined && level !== 'thinking_level_unspecified') return level
  if (budget === undefined || budget < 0) return undefined
  if (budget === 0) return 'none'
  if (budget <= LOW_BUDGET) return 'low'
  return budget <= MEDIUM_BUDGET ? 'medium' : 'high'
}
