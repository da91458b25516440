import type { ResponseHead } from '../../openai-responses/server/response-head.ts'
import type { ChatRequest, JsonObject, SurfaceId } from '../../../spec.ts'
import {
  parseMessages,
  parseResponseFormat,
  parseStop,
  parseToolChoice,
  parseTools,
} from '../../shared/chat-fields.ts'
import {
  invalid,
  objectAt,
  optionalChoice,
  optionalFlag,
  optionalNumber,
  optionalObject,
  optionalText,
  refuseUnknown,
  textAt,
} from '../../shared/read-fields.ts'
import { refuseReservedOptions } from '../../shared/reserved-fields.ts'
import type { Findings } from '../../shared/findings.ts'

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

/** What a chat body asks besides what goes to the provider. */
export interface ChatCall {
  readonly request: ChatRequest
  readonly metadata: Record<string, string> | null
  /** Milliseconds for one try; undefined: the gateway's default. */
  readonly timeoutMs: number | undefined
  /** Named by a secret key; a client token's end user is its own. */
  readonly endUser: string | undefined
  /** The body's shape, where it is not the one of the surface that it came to. */
  readonly shape?: SurfaceId
  /** How the caller's format spells canonical parameters, where it does otherwise: what is refused is named so. */
  readonly spelled?: Readonly<Record<string, string>>
  /** What not every target can give, where the surface's format has such things. */
  readonly findings?: Findings
  /** The caller asked to see thoughts, in formats where one has to. */
  readonly showsThoughts?: boolean
  /** What an answer repeats of its request, in the formats that do so. */
  readonly repeated?: Pick<ResponseHead, 'echo' | 'toolKinds'>
}

const STRICT = { strict: true }
const PENALTY = { min: -2, max: 2 }
const CAP = { min: 1, integer: true }

/** `POST /v1/chat` (contract.md §3). */
export function parseNativeChat(body: JsonObject): ChatCall {
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
    metadata: parseMetadata(body),
    timeoutMs: optionalNumber(body, 'timeout_ms', { min: 1000, max: 600_000, integer: true }),
    endUser: parseEndUser(body),
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** Sets a field only where there is a value: absent and undefined are kept apart by the compiler. */
export function set<T, K extends keyof T>(target: T, name: K, value: T[K] | undefined): void {
  if (value !== undefined) target[name] = value
}

/** The three spellings of one field; who sends two must mean the same. */
export function parseOutputCap(body: JsonObject): number | undefined {
  let cap: number | undefined
  for (const name of ['max_output_tokens', 'max_completion_tokens', 'max_tokens']) {
    const value = optionalNumber(body, name, CAP)
    if (value === undefined) continue
    if (cap !== undefined && cap !== value)
      throw invalid(name, 'contradicts another spelling of the output cap.')
    cap = value
  }
  return cap
}

function parseMetadata(body: JsonObject): Record<string, string> | null {
  const metadata = optionalObject(body, 'metadata')
  if (metadata === undefined) return null
  const entries = Object.entries(metadata)
  if (entries.length > 16) throw invalid('metadata', 'must have at most 16 pairs.')
  return Object.fromEntries(entries.map(([key, value]) => [key, textAt(value, `metadata.${key}`)]))
}

export function parseEndUser(body: JsonObject): string | undefined {
  const endUser = optionalText(body, 'end_user')
  if (endUser !== undefined && (endUser.length < 1 || endUser.length > 255)) {
    throw invalid('end_user', 'must have 1 to 255 characters.')
  }
  return endUser
}

function parseProviderOptions(body: JsonObject): Record<string, JsonObject> | undefined {
  const options = optionalObject(body, 'provider_options')
  if (options === undefined) return undefined
  const parsed: Record<string, JsonObject> = {}
  for (const [provider, value] of Object.entries(options)) {
    const path = `provider_options.${provider}`
    const fields = objectAt(value, path)
    refuseReservedOptions(fields, path)
    parsed[provider] = fields
  }
  return parsed
}
