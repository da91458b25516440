import type { JsonObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { parseResponses } from '../../openai-responses/server/parse-chat.ts'
import type { ChatCall } from '../../shared/chat-call.ts'
import {
  parseMessages,
  parseOutputCap,
  parseResponseFormat,
  parseStop,
  parseToolChoice,
  parseTools,
} from '../../shared/chat-fields.ts'
import { toLogMetadata } from '../../shared/log-metadata.ts'
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
import { refuseReservedRest } from '../../shared/reserved-fields.ts'

const LENIENT = { strict: false }

/** What of OpenAI's own request we read, price, or know to change neither price nor state. */
const KNOWN: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'max_output_tokens',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'reasoning_effort',
  'verbosity',
  'stream',
  'stream_options',
  'n',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'metadata',
  'service_tier',
  // Never on for a client token: see plan-chat.ts.
  'store',
])

export function findUnknownField(body: JsonObject): string | undefined {
  for (const name in body) if (!KNOWN.has(name)) return name
  return undefined
}

/**
 * `POST {prefix}/v1/chat/completions` in OpenAI's own shape. What the gateway relies on is checked; ranges are the
 * provider's to judge, and a field that we do not know passes on to it.
 */
export function parseCompatChat(body: JsonObject): ChatCall {
  if (body.messages === undefined && body.input !== undefined) return parseMixed(body)
  refuseReservedRest(body)
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
  return { request, metadata: toLogMetadata(body.metadata), timeoutMs: undefined, endUser: undefined }
}

/** Some editors send the body of a Responses request here, and read the answer as a chat completion. */
function parseMixed(body: JsonObject): ChatCall {
  const { stream_options, ...rest } = body
  const call = parseResponses(rest)
  const includeUsage = isObject(stream_options) && stream_options.include_usage === true
  return { ...call, shape: 'openai-mixed', request: { ...call.request, includeUsage } }
}
