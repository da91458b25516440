import type { JsonObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { parseResponses } from '../../openai-responses/server/parse-chat.ts'
import type { OwnFindings } from '../../shared/body-findings.ts'
import {
  parseMessages,
  parseOutputCap,
  parseResponseFormat,
  parseStop,
  parseToolChoice,
  parseTools,
} from '../../shared/chat-fields.ts'
import { OPENAI_METADATA, parseLogMetadata } from '../../shared/log-metadata.ts'
import { readExtra } from '../../shared/lost-params.ts'
import {
  invalid,
  isObject,
  optionalFlag,
  optionalNumber,
  optionalObject,
  optionalText,
  set,
  textAt,
} from '../../shared/read-fields.ts'
import { refuseOtherTier, refuseReservedFields } from '../../shared/reserved-fields.ts'
import { KNOWN_FIELDS, OLD_TOOL_FIELDS } from '../client/known-fields.ts'

const LENIENT = { strict: false }

/** `functions` and `function_call` pass on unread. */
const OWN: ReadonlySet<string> = new Set([...KNOWN_FIELDS, ...OLD_TOOL_FIELDS])

/** The first field that a client token may not send; see ChatServer. */
export function findPassedOnChat(body: JsonObject): string | undefined {
  for (const name in body) if (!KNOWN_FIELDS.has(name)) return name
  // Every choice is billed.
  return typeof body.n === 'number' && body.n > 1 ? 'n' : undefined
}

/**
 * `POST {prefix}/v1/chat/completions` in OpenAI's own shape. What the gateway relies on is checked; ranges are the
 * provider's to judge, and a field that we do not know passes on to it.
 */
export function parseCompatChat(body: JsonObject): OwnFindings {
  if (body.messages === undefined && body.input !== undefined) return parseMixed(body)
  refuseReservedFields(body, OWN)
  refuseOtherTier(body.service_tier)
  const model = textAt(body.model, 'model')
  if (model === '') throw invalid('model', 'must not be empty.')
  optionalNumber(body, 'n', { min: 1, max: 128, integer: true })
  const streamOptions = optionalObject(body, 'stream_options')
  const includeUsage =
    streamOptions === undefined
      ? false
      : (optionalFlag(streamOptions, 'include_usage', 'stream_options.include_usage') ?? false)
  const request: { -readonly [K in keyof ChatRequest]: ChatRequest[K] } = {
    model,
    messages: parseMessages(body, LENIENT),
    stream: optionalFlag(body, 'stream') ?? false,
    includeUsage,
  }
  set(request, 'tools', parseTools(body, LENIENT))
  set(request, 'toolChoice', parseToolChoice(body, LENIENT))
  set(request, 'parallelToolCalls', optionalFlag(body, 'parallel_tool_calls'))
  set(request, 'responseFormat', parseResponseFormat(body, LENIENT))
  set(request, 'maxOutputTokens', parseOutputCap(body))
  set(request, 'temperature', optionalNumber(body, 'temperature'))
  set(request, 'topP', optionalNumber(body, 'top_p'))
  set(request, 'stop', parseStop(body))
  set(request, 'seed', optionalNumber(body, 'seed', { integer: true }))
  set(request, 'presencePenalty', optionalNumber(body, 'presence_penalty'))
  set(request, 'frequencyPenalty', optionalNumber(body, 'frequency_penalty'))
  set(request, 'reasoningEffort', optionalText(body, 'reasoning_effort'))
  set(request, 'user', optionalText(body, 'user'))
  set(request, 'extra', readExtra(body))
  return {
    request,
    metadata: parseLogMetadata(body.metadata, OPENAI_METADATA),
    timeoutMs: undefined,
  }
}

/** Some editors send the body of a Responses request here, and read the answer as a chat completion. */
function parseMixed(body: JsonObject): OwnFindings {
  const { stream_options, ...rest } = body
  const call = parseResponses(rest)
  const includeUsage = isObject(stream_options) && stream_options.include_usage === true
  return { ...call, shape: 'openai-mixed', request: { ...call.request, includeUsage } }
}
