import type { JsonObject } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import type { MessagesEnvelope } from '../../../provider/provider.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import { joinAddress } from '../../../upstream/join-address.ts'
import { findChanged, optionsPath } from '../../../upstream/outgoing-body.ts'
import type { Target } from '../../../upstream/target.ts'
import type { UpstreamRequest } from '../../../upstream/upstream-request.ts'
import { encodeFormat } from './encode-format.ts'
import { encodeMessages } from './encode-messages.ts'
import { encodeThinking } from './encode-thinking.ts'
import { encodeToolChoice, encodeTools } from './encode-tools.ts'
import { findModelTraits, type ModelTraits } from './model-traits.ts'
import { passRequest } from './pass-request.ts'
import { STRUCTURED_ANSWER } from './structured-answer.ts'
import { PASSED_ON, willThink } from './unsupported-params.ts'

const VERSION = '2023-06-01'

/** See ClientFormat: a body of this format passes through, any other is translated. */
export function encodeRequest(
  request: ChatRequest,
  target: Target,
  source: SourceBody | undefined,
  dropped: readonly string[] = [],
): UpstreamRequest {
  const isOurs = source?.format === 'anthropic-messages'
  const { model, provider } = target
  const envelope = provider.messages
  const version = envelope === undefined ? {} : { anthropic_version: envelope.version }
  const made = isOurs
    ? passRequest(request, envelope === undefined ? model : undefined, source, dropped, version)
    : toBody(request, target, dropped)
  const headers = encodeHeaders(request.stream, isOurs ? source.headers : undefined)
  if (envelope !== undefined) delete headers['anthropic-version']
  return {
    ...joinAddress(target.baseUrl, findPath(envelope, model, request.stream)),
    headers,
    ...made,
  }
}

function findPath(envelope: MessagesEnvelope | undefined, model: string, isStream: boolean): string {
  if (envelope === undefined) return '/messages'
  const path = isStream ? envelope.streamedPath : envelope.plainPath
  return path.replace('{model}', encodeURIComponent(model))
}

/** `given`: the caller's own choice of version and betas. */
export function encodeHeaders(
  isStream: boolean,
  given: Readonly<Record<string, string>> | undefined,
): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: isStream ? 'text/event-stream' : 'application/json',
    'anthropic-version': VERSION,
    ...given,
  }
}

function toBody(
  request: ChatRequest,
  target: Target,
  dropped: readonly string[],
): Pick<UpstreamRequest, 'body' | 'reserved' | 'emulated'> {
  const made = encodeBody(without(request, dropped), target)
  for (const name of PASSED_ON) {
    const value = dropped.includes(name) ? undefined : request.extra?.get(name)
    if (value !== undefined) made[name] = value
  }
  const body: JsonObject = { ...made, ...request.providerOptions?.[target.provider.id] }
  const reserved = findChanged(made, body, optionsPath(target))
  const envelope = target.provider.messages
  if (envelope !== undefined) {
    delete body.model
    body.anthropic_version = envelope.version
  }
  const isEmulated =
    isFormatted(request) && (body.output_config as JsonObject | undefined)?.format === undefined
  return {
    body: Buffer.from(JSON.stringify(body)),
    reserved,
    ...(isEmulated ? { emulated: ['response_format'] } : {}),
  }
}

function isFormatted({ responseFormat }: ChatRequest): boolean {
  return responseFormat !== undefined && responseFormat.type !== 'text'
}

/** The request in this format, without model-independent extras: also what a cloud provider wraps. */
export function encodeBody(request: ChatRequest, target: Target): JsonObject {
  const traits = findModelTraits(target.model)
  const maxTokens = findMaxTokens(request, target, traits)
  // Clouds do not take what their documents of it leave out.
  const takesSystemTurns = traits.takesSystemTurns && target.provider.messages === undefined
  const { system, messages } = encodeMessages(request.messages, { takesSystemTurns })
  const thinks = willThink(request, traits)
  const asked = thinks || request.reasoningEffort === 'none'
  const { thinking, effort } = asked ? encodeThinking(request, traits, maxTokens) : {}
  const format = encodeFormat(request, traits, thinking === undefined)
  const outputConfig = {
    ...(effort === undefined ? {} : { effort }),
    ...(format?.format === undefined ? {} : { format: format.format }),
  }
  const body: JsonObject = {
    model: target.model,
    max_tokens: maxTokens,
    messages,
    ...setSystem(system, format?.instruction),
    ...(request.stream ? { stream: true } : {}),
    ...encodeSampling(request, traits, thinks),
    ...(thinking === undefined ? {} : { thinking }),
    ...(Object.keys(outputConfig).length === 0 ? {} : { output_config: outputConfig }),
    ...encodeUser(request.user),
  }
  setTools(body, request, format?.tool, thinking === undefined)
  return body
}

/** The format demands a cap: where the caller names none it is all that the model gives. */
function findMaxTokens(request: ChatRequest, target: Target, traits: ModelTraits): number {
  const most = target.maxOutputTokens
  const wanted = request.maxOutputTokens
  if (wanted === undefined) return most ?? traits.maxOutputTokens
  // More than the model gives is refused, though it would change nothing.
  return most === undefined ? wanted : Math.min(wanted, most)
}

function setSystem(system: string | JsonObject[] | undefined, instruction: string | undefined): JsonObject {
  if (instruction === undefined) return system === undefined ? {} : { system }
  if (system === undefined) return { system: instruction }
  if (typeof system === 'string') return { system: `${system}\n\n${instruction}` }
  return { system: [...system, { type: 'text', text: instruction }] }
}

function encodeSampling(
  { temperature, topP, stop }: ChatRequest,
  { hasSampling, samplesByOne }: ModelTraits,
  thinks: boolean,
): JsonObject {
  const sampling: JsonObject = {}
  const canSample = hasSampling && !thinks
  // OpenAI's scale goes to 2.
  if (temperature !== undefined && canSample) sampling.temperature = Math.min(Math.max(temperature, 0), 1)
  const isDouble = samplesByOne && sampling.temperature !== undefined
  if (topP !== undefined && canSample && !(isDouble && topP === 1)) {
    sampling.top_p = topP
    if (isDouble && temperature === 1) delete sampling.temperature
  }
  if (stop !== undefined && stop.length > 0) sampling.stop_sequences = [...stop]
  return sampling
}

/** Anthropic asks for an opaque id: what looks like a person's address is kept here. */
function encodeUser(user: string | undefined): JsonObject {
  if (user === undefined || user === '' || user.length > 256 || user.includes('@')) return {}
  return { metadata: { user_id: user } }
}

function setTools(
  body: JsonObject,
  request: ChatRequest,
  answerTool: JsonObject | undefined,
  canForce: boolean,
): void {
  const own = encodeTools(request.tools ?? [])
  const tools = answerTool === undefined ? own : [...own, answerTool]
  if (tools.length === 0) return
  body.tools = tools
  const choice =
    answerTool === undefined || !canForce ? encodeToolChoice(request) : forceAnswer(request, own.length)
  if (choice !== undefined) body.tool_choice = choice
}

/** The answer's own call where there is no other tool to call first. */
function forceAnswer(request: ChatRequest, ownTools: number): JsonObject {
  const canCallOthers = ownTools > 0 && request.toolChoice !== 'none'
  if (!canCallOthers) return { type: 'tool', name: STRUCTURED_ANSWER }
  return typeof request.toolChoice === 'object'
    ? (encodeToolChoice(request) as JsonObject)
    : { type: 'any', ...(request.parallelToolCalls === false ? { disable_parallel_tool_use: true } : {}) }
}

const CANONICAL: Readonly<Record<string, keyof ChatRequest>> = toTable({
  temperature: 'temperature',
  top_p: 'topP',
  stop: 'stop',
  reasoning_effort: 'reasoningEffort',
})

/** The request without what the environment drops. */
function without(request: ChatRequest, dropped: readonly string[]): ChatRequest {
  const names = dropped.flatMap(name => CANONICAL[name] ?? [])
  if (names.length === 0) return request
  return Object.fromEntries(
    Object.entries(request).filter(([name]) => !names.includes(name as keyof ChatRequest)),
  ) as unknown as ChatRequest
}
