import type { JsonObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { OwnFindings } from '../../shared/body-findings.ts'
import {
  invalid,
  optionalFlag,
  optionalNumber,
  optionalObject,
  optionalText,
  set,
  textAt,
} from '../../shared/read-fields.ts'
import { refuseReservedFields } from '../../shared/reserved-fields.ts'
import { KNOWN_FIELDS, USUAL_VALUES } from '../client/known-fields.ts'
import { checkMessages, checkStopSequences, checkToolChoice, checkTools, findHosted } from './check-fields.ts'
import { decodeRequest } from './decode-request.ts'
import { findAnthropicOnly } from './findings.ts'

const OWN: ReadonlySet<string> = new Set([...KNOWN_FIELDS, ...USUAL_VALUES.keys()])

/** The first field that a client token may not send; see ChatServer. */
export function findUnknownField(body: JsonObject): string | undefined {
  for (const name in body) if (!KNOWN_FIELDS.has(name)) return name
  return findHosted(body)
}

/** `POST {anthropic prefix}/v1/messages` in Anthropic's own shape: as on the compat surface, unknown fields pass on. */
export function parseAnthropicChat(body: JsonObject): OwnFindings {
  const request = parseRequest(body)
  const cap = optionalNumber(body, 'max_tokens', { min: 1, integer: true })
  if (cap === undefined) throw invalid('max_tokens', 'is required.')
  request.stream = optionalFlag(body, 'stream') ?? false
  request.maxOutputTokens = cap
  set(request, 'temperature', optionalNumber(body, 'temperature'))
  set(request, 'topP', optionalNumber(body, 'top_p'))
  return toCall(request, body)
}

/** `POST {anthropic prefix}/v1/messages/count_tokens`: the same without what concerns the answer. */
export function parseCountTokens(body: JsonObject): OwnFindings {
  return toCall(parseRequest(body), body)
}

function toCall(request: ChatRequest, body: JsonObject): OwnFindings {
  const hosted = findHosted(body)
  const found = findAnthropicOnly(body)
  if (hosted !== undefined) found.uncounted.push(hosted)
  return { request, metadata: null, timeoutMs: undefined, findings: found }
}

function parseRequest(body: JsonObject): { -readonly [K in keyof ChatRequest]: ChatRequest[K] } {
  refuseReservedFields(body, OWN)
  refuseUnusual(body)
  const model = textAt(body.model, 'model')
  if (model === '') throw invalid('model', 'must not be empty.')
  checkMessages(body)
  checkTools(body)
  checkToolChoice(body)
  checkStopSequences(body)
  for (const name of ['thinking', 'output_config', 'output_format', 'metadata']) optionalObject(body, name)
  optionalText(body, 'service_tier')
  return { model, stream: false, includeUsage: true, ...decodeRequest(body) }
}

/** Refuses values that have another price. */
function refuseUnusual(body: JsonObject): void {
  for (const [name, usual] of USUAL_VALUES) {
    const value = body[name]
    if (value !== undefined && value !== null && value !== usual) throw invalid(name, `must be ${usual}.`)
  }
  const tier = body.service_tier
  if (tier !== undefined && tier !== null && tier !== 'auto' && tier !== 'standard_only') {
    throw invalid('service_tier', 'must be auto or standard_only.')
  }
}
