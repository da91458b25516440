import type { Json, JsonObject } from '../../../json/json-value.ts'
import { hasCacheMark } from '../../shared/cache-marks.ts'
import { noFindings } from '../../shared/findings.ts'
import { OPENAI_METADATA, parseLogMetadata } from '../../shared/log-metadata.ts'
import { parseOpenAiRequest } from '../../shared/parse-openai-request.ts'
import type { ParseContext, ParsedChat } from '../../shared/parsed-chat.ts'
import { optionalNumber, set } from '../../shared/read-fields.ts'
import { refuseOtherTier, refuseReservedFields } from '../../shared/reserved-fields.ts'
import { findStored } from '../../shared/stored-fields.ts'
import { FIELDS, isRead } from '../wire/fields.ts'
import { findUnread, parseMixed } from './parse-mixed.ts'

const LENIENT = { strict: false }
/** As many answers as OpenAI gives at most. */
const CHOICES = { min: 1, max: 128, integer: true }

/**
 * A body of `POST {prefix}/v1/chat/completions` as a canonical request. The gateway checks what it relies on; ranges are the
 * provider's to judge, and a field that the gateway does not know passes on to it.
 */
export function parseRequest(body: JsonObject, context: ParseContext): ParsedChat {
  if (body.messages === undefined && body.input !== undefined) return parseMixed(body, context)
  refuseReservedFields(body, FIELDS.names)
  refuseOtherTier(body.service_tier)
  const choices = optionalNumber(body, 'n', CHOICES) ?? 1
  const { request, asksForCaching } = parseOpenAiRequest(body, FIELDS, LENIENT)
  const extra = FIELDS.readExtra(body)
  set(request, 'extra', extra)
  const findings = noFindings()
  if (context.isEndUser) {
    findings.passedOn = findPassedOn(body, choices)
    findings.stored = findStored(body)
  }
  findings.choices = choices
  findings.asksForCaching = asksForCaching || (extra !== undefined && isCacheAsked(extra))
  findings.mayBeStored = body.store !== undefined
  return {
    request,
    metadata: parseLogMetadata(body.metadata, OPENAI_METADATA),
    timeoutMs: undefined,
    endUser: body.end_user,
    findings,
  }
}

/** Every choice is billed: an end user gets one. */
function findPassedOn(body: JsonObject, choices: number): string | undefined {
  return findUnread(body) ?? (choices > 1 ? 'n' : undefined)
}

/** Does a field that passes on unread ask for caching? Anthropic's own mark may stand at the top of a body. */
function isCacheAsked(extra: ReadonlyMap<string, Json>): boolean {
  for (const [name, value] of extra) {
    if (name === 'cache_control' || (!isRead(name) && hasCacheMark(value))) return true
  }
  return false
}
