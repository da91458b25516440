import type { JsonObject } from '../../../json/json-value.ts'
import { toObject, toText } from '../../../json/json-value.ts'
import type { Provider } from '../../../provider/provider.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import { joinAddress } from '../../../upstream/join-address.ts'
import { findChanged, mergeOptions, optionsPath } from '../../../upstream/outgoing-body.ts'
import type { Target } from '../../../upstream/target.ts'
import type { UpstreamRequest } from '../../../upstream/upstream-request.ts'
import { findLostParams, findLostParts, type PlacedParam, readField } from '../../shared/lost-params.ts'
import { encodeMessages, PARTS } from './encode-messages.ts'

const NO_PLACE: readonly PlacedParam[] = ['parallel_tool_calls']
/** Fields of this format that a caller of OpenAI's may send beside its own: they go out as they are. */
const PASSED_ON = ['think', 'keep_alive', 'options']
/** Those that a caller of this format sends, and its own server understands. */
const OWN = [...PASSED_ON, 'truncate', 'shift', 'logprobs', 'top_logprobs']

/**
 * The canonical request as `POST /api/chat` takes it. The address of a credential may end in `/v1`, where the same server
 * speaks OpenAI's format; this one lies beside it.
 */
export function encodeRequest(
  request: ChatRequest,
  target: Target,
  source: SourceBody | undefined,
  dropped: readonly string[] = [],
): UpstreamRequest {
  const made = encodeBody(request, target, dropped)
  const options = request.providerOptions?.[target.provider.id]
  const merged = mergeOptions(mergeOptions(made, readPassedOn(request, source, dropped)), options)
  const body = withOwnCap(merged, request)
  const path = options === undefined ? undefined : optionsPath(target)
  return {
    ...joinAddress(target.baseUrl.replace(/\/v1$/, ''), '/api/chat'),
    headers: {
      'content-type': 'application/json',
      accept: request.stream ? 'application/x-ndjson' : 'application/json',
    },
    body: Buffer.from(JSON.stringify(body)),
    reserved: findChanged(withOwnCap(made, request), body, path),
  }
}

function readPassedOn(
  { extra }: ChatRequest,
  source: SourceBody | undefined,
  dropped: readonly string[],
): JsonObject | undefined {
  const own = source?.format === 'ollama-chat' ? source : undefined
  const isOwn = own !== undefined
  const given =
    own === undefined
      ? PASSED_ON.map(name => [name, extra?.get(name)] as const)
      : OWN.map(name => [name, readField(own, name)] as const)
  const fields = Object.fromEntries(given.filter(([, value]) => value !== undefined && value !== null))
  const options = toObject(fields.options)
  if (!isOwn || options === undefined) return fields
  const kept = Object.entries(options).filter(
    ([name, value]) => value !== null && !dropped.includes(`options.${name}`),
  )
  return { ...fields, options: Object.fromEntries(kept) }
}

/** The gateway relies on the output cap that it was told: none may come in among the options. */
function withOwnCap(body: JsonObject, { maxOutputTokens }: ChatRequest): JsonObject {
  const { num_predict: _, ...options } = toObject(body.options) ?? {}
  if (maxOutputTokens !== undefined) options.num_predict = maxOutputTokens
  const { options: _given, ...rest } = body
  return Object.keys(options).length === 0 ? rest : { ...rest, options }
}

function encodeBody(request: ChatRequest, target: Target, dropped: readonly string[]): JsonObject {
  const { tools, toolChoice, responseFormat } = request
  // There is no choice of tools: who may call none is not told of any.
  const told = toolChoice === 'none' ? [] : (tools ?? [])
  const think = dropped.includes('reasoning_effort') ? undefined : encodeEffort(request, target.model)
  return {
    model: target.model,
    messages: encodeMessages(request.messages),
    // Without it the answer is a stream.
    stream: request.stream,
    ...(told.length === 0
      ? {}
      : { tools: told.map(({ function: fn }) => ({ type: 'function', function: withoutStrict(fn) })) }),
    ...(responseFormat === undefined || responseFormat.type === 'text'
      ? {}
      : { format: encodeFormat(responseFormat) }),
    ...(think === undefined ? {} : { think }),
    options: encodeOptions(request, target, dropped),
  }
}

function withoutStrict({
  name,
  description,
  parameters,
}: NonNullable<ChatRequest['tools']>[number]['function']): JsonObject {
  return {
    name,
    ...(description ? { description } : {}),
    parameters: parameters ?? { type: 'object', properties: {} },
  }
}

function encodeFormat(
  format: Exclude<NonNullable<ChatRequest['responseFormat']>, { type: 'text' }>,
): JsonObject[string] {
  return format.type === 'json_schema' && format.json_schema.schema ? format.json_schema.schema : 'json'
}

/** One family takes efforts, every other model thinks or does not. */
function encodeEffort({ reasoningEffort: effort }: ChatRequest, model: string): JsonObject[string] {
  if (effort === undefined) return undefined
  if (!model.includes('gpt-oss')) return effort !== 'none'
  if (effort === 'none' || effort === 'minimal') return 'low'
  return effort === 'xhigh' || effort === 'max' ? 'high' : effort
}

/** Its context is small unless told otherwise, and a longer prompt is cut without a word: a credential can set it. */
function encodeOptions(request: ChatRequest, { options }: Target, dropped: readonly string[]): JsonObject {
  const context = Number(toText(options?.num_ctx) ?? '')
  const all: JsonObject = {
    ...(Number.isSafeInteger(context) && context > 0 ? { num_ctx: context } : {}),
    temperature: request.temperature,
    top_p: request.topP,
    stop: request.stop === undefined ? undefined : [...request.stop],
    seed: request.seed,
    presence_penalty: request.presencePenalty,
    frequency_penalty: request.frequencyPenalty,
  }
  return Object.fromEntries(
    Object.entries(all).filter(([name, value]) => value !== undefined && !dropped.includes(name)),
  )
}

export function findUnsupportedParams(
  request: ChatRequest,
  _provider: Provider,
  _model: string,
): readonly string[] {
  const { toolChoice } = request
  const lost = findLostParams(request, NO_PLACE, PASSED_ON)
  if (toolChoice === 'required' || typeof toolChoice === 'object') lost.push('tool_choice')
  return [...lost, ...findLostParts(request.messages, PARTS)]
}
