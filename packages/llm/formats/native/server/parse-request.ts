import type { JsonObject } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import { JsonTexts } from '../../../upstream/json-texts.ts'
import { hasCacheMark } from '../../shared/claude/cache-marks.ts'
import { NATIVE_METADATA, parseLogMetadata } from '../../shared/reading/log-metadata.ts'
import {
  assertFewFields,
  assertKnownFields,
  invalid,
  objectAt,
  optionalNumber,
  optionalObject,
  set,
} from '../../shared/reading/read-fields.ts'
import { listHostedChatTools } from '../../shared/requests/chat-fields.ts'
import { noFindings } from '../../shared/requests/findings.ts'
import { parseOpenAiRequest } from '../../shared/requests/parse-openai-request.ts'
import type { ParseContext, ParsedChat } from '../../shared/requests/parsed-chat.ts'
import { assertNoReservedOptions } from '../../shared/requests/reserved-fields.ts'
import { findStored } from '../../shared/requests/stored-fields.ts'
import { FIELDS } from '../wire/fields.ts'

const STRICT = { strict: true }
const TIMEOUT = { min: 1000, max: 600_000, integer: true }

/** A body of `POST /v1/chat` as a canonical request. Throws RequestError for an unknown field and every invalid value. */
export function parseRequest(body: JsonObject, { isEndUser }: ParseContext): ParsedChat {
  assertKnownFields(body, FIELDS.names)
  const n = optionalNumber(body, 'n', { integer: true })
  if (n !== undefined && n !== 1) throw invalid('n', 'must be 1.')
  const { request, asksForCaching } = parseOpenAiRequest(body, FIELDS, STRICT)
  // The last frame of a native stream always reports usage and cost.
  request.includeUsage = true
  const options = parseProviderOptions(body)
  set(request, 'providerOptions', options)
  const findings = noFindings()
  if (isEndUser) {
    // Every other field that a provider gets is read.
    if (options !== undefined) findings.passedOn = 'provider_options'
    findings.stored = findStored(body)
  }
  for (const tool of listHostedChatTools(body)) findings.hostedTools.push(tool)
  findings.asksForCaching = asksForCaching || hasCacheMark(options)
  // Marks in `provider_options` are for one provider: the others lose nothing.
  if (asksForCaching) findings.cacheMark = 'cache_control'
  return {
    request,
    metadata: parseLogMetadata(body.metadata, NATIVE_METADATA),
    timeoutMs: optionalNumber(body, 'timeout_ms', TIMEOUT),
    findings,
  }
}

function parseProviderOptions(body: JsonObject): Record<string, JsonObject> | undefined {
  const options = optionalObject(body, 'provider_options')
  if (options === undefined) return undefined
  assertFewFields(options, 'provider_options')
  const parsed = toTable<Record<string, JsonObject>>({})
  const texts = new JsonTexts()
  for (const [provider, value] of Object.entries(options)) {
    if (value === null) continue
    const path = `provider_options.${provider}`
    const fields = objectAt(value, path)
    assertFewFields(fields, path)
    assertNoReservedOptions(fields, path, texts)
    parsed[provider] = fields
  }
  return parsed
}
