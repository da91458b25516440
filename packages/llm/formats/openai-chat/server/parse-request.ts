import type { Json, JsonObject } from '../../../json/json-value.ts'
import { hasCacheMark } from '../../shared/claude/cache-marks.ts'
import { OPENAI_METADATA, parseLogMetadata } from '../../shared/reading/log-metadata.ts'
import { optionalNumber, set } from '../../shared/reading/read-fields.ts'
import { HOSTED_FIELDS, listHostedChatTools } from '../../shared/requests/chat-fields.ts'
import { noFindings } from '../../shared/requests/findings.ts'
import { parseOpenAiRequest } from '../../shared/requests/parse-openai-request.ts'
import type { ParseContext, ParsedChat } from '../../shared/requests/parsed-chat.ts'
import { assertNoReservedFields, assertUsualTier } from '../../shared/requests/reserved-fields.ts'
import { findStored } from '../../shared/requests/stored-fields.ts'
import { FIELDS, isRead } from '../wire/fields.ts'
import { toCurrentSpelling } from './current-spelling.ts'
import { findOpaqueField, parseMixed } from './parse-mixed.ts'

/** The known fields, including those that are left out if their provider would search. */
const KNOWN: ReadonlySet<string> = new Set([...FIELDS.names, ...HOSTED_FIELDS])
const LENIENT = { strict: false }
/** The number of answers that OpenAI accepts. */
const CHOICES = { min: 1, max: 128, integer: true }

/**
 * A body of `POST {prefix}/v1/chat/completions` as a canonical request. The gateway checks what it relies on; ranges are the
 * provider's to judge, and a field that the gateway does not know passes on to it.
 */
export function parseRequest(received: JsonObject, context: ParseContext): ParsedChat {
  if (received.messages === undefined && received.input !== undefined) return parseMixed(received, context)
  assertNoReservedFields(received, KNOWN)
  assertUsualTier(received.service_tier)
  const { body, changes, callsFunctions } = toCurrentSpelling(received)
  const choices = optionalNumber(body, 'n', CHOICES) ?? 1
  const { request, asksForCaching } = parseOpenAiRequest(body, FIELDS, LENIENT)
  set(request, 'respelled', changes)
  const extra = FIELDS.readExtra(body)
  set(request, 'extra', withoutHosted(extra))
  const findings = noFindings()
  if (context.isEndUser) {
    findings.passedOn = findPassedOn(body, choices)
    findings.stored = findStored(body)
  }
  findings.choices = choices
  findings.asksForCaching = asksForCaching || (extra !== undefined && asksForCache(extra))
  if (asksForCaching) findings.cacheMark = 'cache_control'
  for (const tool of listHostedChatTools(body)) findings.hostedTools.push(tool)
  return {
    request,
    metadata: parseLogMetadata(body.metadata, OPENAI_METADATA),
    timeoutMs: undefined,
    findings,
    callsFunctions,
  }
}

/** Fields that ask for a search are found apart. */
function withoutHosted(extra: ReadonlyMap<string, Json> | undefined): ReadonlyMap<string, Json> | undefined {
  if (extra === undefined || !HOSTED_FIELDS.some(name => extra.has(name))) return extra
  const others = new Map(extra)
  for (const name of HOSTED_FIELDS) others.delete(name)
  return others.size === 0 ? undefined : others
}

/** Every choice is billed: an end user gets one. */
function findPassedOn(body: JsonObject, choices: number): string | undefined {
  return findOpaqueField(body) ?? (choices > 1 ? 'n' : undefined)
}

/** Returns true if a field that passes on unread asks for caching. Anthropic's own mark may stand at the top of a body. */
function asksForCache(extra: ReadonlyMap<string, Json>): boolean {
  for (const [name, value] of extra) {
    if (name === 'cache_control' || (!isRead(name) && hasCacheMark(value))) return true
  }
  return false
}
