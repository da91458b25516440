import type { JsonObject } from '../../../json/json-value.ts'
import { isObject } from '../../../json/json-value.ts'
import { JsonTexts } from '../../../upstream/json-texts.ts'
import { joinPath } from '../../shared/reading/field-path.ts'
import { GEMINI_LABELS, parseLogMetadata } from '../../shared/reading/log-metadata.ts'
import { invalid, objectAt, optionalObject, optionalText } from '../../shared/reading/read-fields.ts'
import type { MutableRequest } from '../../shared/requests/field-table.ts'
import { noFindings, type TargetFindings } from '../../shared/requests/findings.ts'
import type { ParseContext, ParsedChat } from '../../shared/requests/parsed-chat.ts'
import { assertNotReservedName } from '../../shared/requests/reserved-fields.ts'
import { findStored } from '../../shared/requests/stored-fields.ts'
import { isUsualTier } from '../wire/content-rules.ts'
import { CONFIG_FIELDS, FIELDS } from '../wire/fields.ts'
import { toCamel } from '../wire/spell-camel.ts'
import { parseConfig } from './parse-config.ts'
import { parseContents } from './parse-contents.ts'
import { hasStrictFilter, parseTools } from './parse-tools.ts'
import { assertSameModel, spell } from './read-body.ts'

/**
 * A body of `POST {gemini prefix}/v1beta/models/{model}:generateContent` as a canonical request. Throws RequestError where
 * the gateway relies on a value of the wrong form, or could not bill the answer. A field that the gateway does not know is
 * sent to no target: it could be a tool or an option with a price of its own.
 */
export function parseRequest(given: JsonObject, context: ParseContext, stream: boolean): ParsedChat {
  const body = spell(given)
  const model = context.pathModel
  const findings = noFindings()
  noteFields(body, findings)
  assertSameModel(body, model)
  assertUsualTier(body)
  const request: MutableRequest = {
    model,
    messages: parseContents(body, findings),
    stream,
    // The last chunk of a stream always reports usage.
    includeUsage: true,
    passedBody: body,
  }
  parseTools(body, request, findings)
  const { choices, showsThoughts } = parseConfig(body, request, findings)
  if (hasStrictFilter(body.safetySettings)) findings.nativeOnly.push('safetySettings')
  if (optionalText(body, 'cachedContent') !== undefined) findings.storedStatePaths.push('cachedContent')
  if (context.isEndUser) {
    findings.passedOn = findPassedOn(given)
    findings.stored = findStored(given)
  }
  // The format has no marks of caching, and its providers keep no answers.
  findings.choices = choices
  return {
    request,
    metadata: parseLogMetadata(optionalObject(body, 'labels'), GEMINI_LABELS),
    timeoutMs: undefined,
    spellings: FIELDS.spellings,
    findings,
    showsReasoning: showsThoughts,
  }
}

/** A body of `:countTokens`: the contents alone, or a whole request in `generateContentRequest`. */
export function parseCountRequest(given: JsonObject, context: ParseContext): ParsedChat {
  return parseRequest(toCounted(given), context, false)
}

function toCounted(given: JsonObject): JsonObject {
  const whole = given.generateContentRequest ?? given.generate_content_request
  if (whole === undefined || whole === null) return given
  if (Object.keys(given).length > 1) throw invalid('generateContentRequest', 'must stand alone.')
  return objectAt(whole, 'generateContentRequest')
}

function noteFields(body: JsonObject, findings: TargetFindings): void {
  const texts = new JsonTexts()
  for (const name in body) {
    const value = body[name]
    if (value === undefined || value === null) continue
    if (FIELDS.names.has(name)) {
      if (FIELDS.isFormatSpecific(name, value)) findings.nativeOnly.push(name)
      continue
    }
    assertNotReservedName(name, name, texts)
    findings.unknownFields.push(joinPath('', name))
  }
}

function assertUsualTier(body: JsonObject): void {
  const tier = optionalText(body, 'serviceTier')
  if (tier === undefined || isUsualTier(tier)) return
  throw invalid('serviceTier', 'must be standard: other tiers have prices that the gateway does not know.')
}

/** The first field, as the caller spelled it, that a client token may not send. */
function findPassedOn(given: JsonObject): string | undefined {
  for (const spelled in given) {
    const name = toCamel(spelled)
    const config = given[spelled]
    if (!FIELDS.isForEndUsers(name, config)) return spelled
    if (name !== 'generationConfig' || !isObject(config)) continue
    for (const inner in config) {
      if (!CONFIG_FIELDS.isForEndUsers(toCamel(inner), config[inner])) return `${PATH}.${inner}`
    }
  }
  return undefined
}

const PATH = 'generationConfig'
