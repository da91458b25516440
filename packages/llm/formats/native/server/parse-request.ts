import type { JsonObject } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { OwnFindings } from '../../shared/body-findings.ts'
import {
  parseMessages,
  parseOutputCap,
  parseResponseFormat,
  parseStop,
  parseToolChoice,
  parseTools,
} from '../../shared/chat-fields.ts'
import { NATIVE_METADATA, parseLogMetadata } from '../../shared/log-metadata.ts'
import {
  invalid,
  objectAt,
  optionalChoice,
  optionalFlag,
  optionalNumber,
  optionalObject,
  optionalText,
  refuseUnknown,
  set,
  textAt,
} from '../../shared/read-fields.ts'
import { refuseReservedOptions } from '../../shared/reserved-fields.ts'

const FIELDS: ReadonlySet<string> = new Set([
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
  'reasoning_effort',
  'stream',
  'stream_options',
  'n',
  'user',
  'metadata',
  'end_user',
  'timeout_ms',
  'provider_options',
])

const STRICT = { strict: true }
const PENALTY = { min: -2, max: 2 }

/** `POST /v1/chat` (contract.md §3). */
export function parseNativeChat(body: JsonObject): OwnFindings {
  refuseUnknown(body, FIELDS)
  const model = textAt(body.model, 'model')
  if (model === '') throw invalid('model', 'must not be empty.')
  const n = optionalNumber(body, 'n', { integer: true })
  if (n !== undefined && n !== 1) throw invalid('n', 'must be 1.')
  const streamOptions = optionalObject(body, 'stream_options')
  if (streamOptions !== undefined)
    optionalFlag(streamOptions, 'include_usage', 'stream_options.include_usage')
  const request: Mutable<ChatRequest> = {
    model,
    messages: parseMessages(body, STRICT),
    stream: optionalFlag(body, 'stream') ?? false,
    // The native stream always tells usage and cost in its last frame.
    includeUsage: true,
  }
  set(request, 'tools', parseTools(body, STRICT))
  set(request, 'toolChoice', parseToolChoice(body, STRICT))
  set(request, 'parallelToolCalls', optionalFlag(body, 'parallel_tool_calls'))
  set(request, 'responseFormat', parseResponseFormat(body, STRICT))
  set(request, 'maxOutputTokens', parseOutputCap(body))
  set(request, 'temperature', optionalNumber(body, 'temperature', { min: 0, max: 2 }))
  set(request, 'topP', optionalNumber(body, 'top_p', { min: 0, max: 1 }))
  set(request, 'stop', parseStop(body))
  set(request, 'seed', optionalNumber(body, 'seed', { integer: true }))
  set(request, 'presencePenalty', optionalNumber(body, 'presence_penalty', PENALTY))
  set(request, 'frequencyPenalty', optionalNumber(body, 'frequency_penalty', PENALTY))
  set(
    request,
    'reasoningEffort',
    optionalChoice(body, 'reasoning_effort', ['none', 'minimal', 'low', 'medium', 'high']),
  )
  set(request, 'user', optionalText(body, 'user'))
  set(request, 'providerOptions', parseProviderOptions(body))
  return {
    request,
    metadata: parseLogMetadata(body.metadata, NATIVE_METADATA),
    timeoutMs: optionalNumber(body, 'timeout_ms', { min: 1000, max: 600_000, integer: true }),
    endUser: optionalText(body, 'end_user'),
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

function parseProviderOptions(body: JsonObject): Record<string, JsonObject> | undefined {
  const options = optionalObject(body, 'provider_options')
  if (options === undefined) return undefined
  const parsed = toTable<Record<string, JsonObject>>({})
  for (const [provider, value] of Object.entries(options)) {
    const path = `provider_options.${provider}`
    const fields = objectAt(value, path)
    refuseReservedOptions(fields, path)
    parsed[provider] = fields
  }
  return parsed
}
