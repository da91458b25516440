import type { JsonObject } from '../../../json/json-value.ts'
import type { OwnFindings } from '../../shared/body-findings.ts'
import { joinPath } from '../../shared/field-path.ts'
import { noFindings } from '../../shared/findings.ts'
import { GEMINI_LABELS, parseLogMetadata } from '../../shared/log-metadata.ts'
import { invalid, isObject, objectAt, optionalObject, optionalText } from '../../shared/read-fields.ts'
import { RequestError } from '../../shared/request-error.ts'
import { refuseReservedName } from '../../shared/reserved-fields.ts'
import { spellCamel, toCamel } from '../wire/spell-camel.ts'
import { checkConfig, findUnreadConfig } from './check-config.ts'
import { checkContents, checkSafety, checkToolConfig, checkTools } from './check-fields.ts'
import { decodeRequest } from './decode-request.ts'

/** What an end user may send too. */
const FREE: ReadonlySet<string> = new Set([
  ...['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig', 'model'],
])
const READ: ReadonlySet<string> = new Set([
  ...FREE,
  'safetySettings',
  'cachedContent',
  'labels',
  'serviceTier',
])

/** What goes on to a provider of the format unread, or as it pleases; see ChatServer. */
export function findPassedOnContent(body: JsonObject): string | undefined {
  for (const given in body) {
    const name = toCamel(given)
    if (!FREE.has(name)) return given
    const value = body[given]
    const found =
      name === 'generationConfig' && isObject(value) ? findUnreadConfig(value, toCamel) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * `POST {gemini prefix}/v1beta/models/{model}:generateContent` and `:streamGenerateContent` in Google's own shape. A
 * provider of the format gets the body as it came; what others have no word for is refused by name, or dropped.
 */
export function parseContent(given: JsonObject, model: string, stream: boolean): OwnFindings {
  const spelled = spellCamel(given)
  if ('doubled' in spelled) {
    const { doubled } = spelled
    const message = `${doubled}: stands in the body in both spellings.`
    throw new RequestError('request_validation_failed', message, { param: doubled })
  }
  const { body } = spelled
  const findings = noFindings()
  for (const [name, value] of Object.entries(body)) {
    if (value === null || READ.has(name)) continue
    refuseReservedName(name, name)
    findings.unread.push(joinPath('', name))
  }
  refuseOtherModel(body, model)
  checkTier(body)
  checkContents(body, findings)
  checkTools(body, findings)
  checkToolConfig(body, findings)
  checkConfig(body, findings)
  checkSafety(body, findings)
  if (optionalText(body, 'cachedContent') !== undefined) findings.stateful.push('cachedContent')
  const labels = optionalObject(body, 'labels')
  const thinking = isObject(body.generationConfig) ? body.generationConfig.thinkingConfig : undefined
  return {
    request: { ...decodeRequest(body), model, stream, includeUsage: true },
    metadata: parseLogMetadata(labels, GEMINI_LABELS),
    timeoutMs: undefined,
    findings,
    showsReasoning: isObject(thinking) && thinking.includeThoughts === true,
  }
}

/** `:countTokens`. */
export function parseContentCount(given: JsonObject, model: string): OwnFindings {
  return parseContent(toCounted(given), model, false)
}

/** The contents alone, or a whole request in `generateContentRequest`. */
export function toCounted(given: JsonObject): JsonObject {
  const whole = given.generateContentRequest ?? given.generate_content_request
  if (whole === undefined || whole === null) return given
  if (Object.keys(given).length > 1) throw invalid('generateContentRequest', 'must stand alone.')
  return objectAt(whole, 'generateContentRequest')
}

/** Some clients name the model in the body as well; what is authorized is the path's. */
function refuseOtherModel(body: JsonObject, model: string): void {
  const named = optionalText(body, 'model')
  if (named === undefined || named.replace(/^models\//, '') === model) return
  throw invalid('model', 'contradicts the path.')
}

function checkTier(body: JsonObject): void {
  const tier = optionalText(body, 'serviceTier')
  if (tier === undefined || /^(?:service_tier_)?(?:standard|unspecified)$/i.test(tier)) return
  throw invalid('serviceTier', 'must be standard: other tiers have prices that the gateway does not know.')
}
