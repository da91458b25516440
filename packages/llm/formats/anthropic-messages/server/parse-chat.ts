import type { JsonObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ChatCall } from '../../shared/chat-call.ts'
import {
  invalid,
  optionalFlag,
  optionalNumber,
  optionalObject,
  optionalText,
  set,
  textAt,
} from '../../shared/read-fields.ts'
import { refuseReservedMessages } from '../../shared/reserved-fields.ts'
import { checkMessages, checkStopSequences, checkToolChoice, checkTools } from './check-fields.ts'
import { decodeRequest } from './decode-request.ts'
import { findAnthropicOnly } from './findings.ts'

/** What the gateway reads, or what changes nothing but the answer. */
const KNOWN: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'system',
  'max_tokens',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'metadata',
  'service_tier',
  'cache_control',
])

export function findUnknownField(body: JsonObject): string | undefined {
  for (const name in body) if (!KNOWN.has(name)) return name
  return undefined
}

/** `POST {anthropic prefix}/v1/messages` in Anthropic's own shape: as on the compat surface, unknown fields pass on. */
export function parseAnthropicChat(body: JsonObject): ChatCall {
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
export function parseCountTokens(body: JsonObject): ChatCall {
  return toCall(parseRequest(body), body)
}

function toCall(request: ChatRequest, body: JsonObject): ChatCall {
  const findings = findAnthropicOnly(body)
  return { request, metadata: null, timeoutMs: undefined, endUser: undefined, findings }
}

function parseRequest(body: JsonObject): { -readonly [K in keyof ChatRequest]: ChatRequest[K] } {
  refuseReservedMessages(body)
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
