import type { JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import type { Provider } from '../../../provider/provider.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import { joinAddress } from '../../../upstream/join-address.ts'
import { findChanged, mergeOptions, optionsPath } from '../../../upstream/outgoing-body.ts'
import type { Target } from '../../../upstream/target.ts'
import type { UpstreamRequest } from '../../../upstream/upstream-request.ts'
import { findLostParams, findLostParts, type PlacedParam } from '../../shared/lost-params.ts'
import { encodeMessages } from './encode-messages.ts'
import { canHonourEffort, encodeReasoning, findRefusedSampling } from './encode-reasoning.ts'
import { canHonourChoice, encodeTools } from './encode-tools.ts'
import { findFamily } from './model-family.ts'
import { passRequest } from './pass-request.ts'

/** Wire names of what Converse has no place for, whatever the model. */
const NO_PLACE: readonly PlacedParam[] = [
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'parallel_tool_calls',
]

const PARTS: ReadonlySet<string> = new Set(['text', 'refusal', 'image_url', 'file', 'input_audio'])

/** The canonical request as Converse takes it: `POST /model/{id}/converse` or `…/converse-stream`; a body of this format passes through. */
export function encodeRequest(
  request: ChatRequest,
  target: Target,
  source: SourceBody | undefined,
  dropped: readonly string[] = [],
): UpstreamRequest {
  const { model } = target
  const action = request.stream ? 'converse-stream' : 'converse'
  return {
    // Encoded once here, colon and slash of an ARN included; the signature encodes it once more.
    ...joinAddress(target.baseUrl, `/model/${encodeURIComponent(model)}/${action}`),
    headers: {
      'content-type': 'application/json',
      accept: request.stream ? 'application/vnd.amazon.eventstream' : 'application/json',
    },
    ...(source?.format === 'bedrock-converse'
      ? passRequest(request, source, dropped)
      : translateBody(request, target, dropped)),
  }
}

function translateBody(
  request: ChatRequest,
  target: Target,
  dropped: readonly string[],
): Pick<UpstreamRequest, 'body' | 'reserved' | 'emulated'> {
  const made = encodeBody(request, target.model, dropped)
  const body = mergeOptions(made, request.providerOptions?.[target.provider.id])
  return {
    body: Buffer.from(JSON.stringify(withOwnCap(body, request))),
    reserved: findChanged(made, body, optionsPath(target)),
    // A schema that the model does not keep by itself is asked for by a tool of ours, or by words.
    ...(asksForJson(request) && body.outputConfig === undefined ? { emulated: ['response_format'] } : {}),
  }
}

function asksForJson({ responseFormat }: ChatRequest): boolean {
  return responseFormat !== undefined && responseFormat.type !== 'text'
}

/** The gateway relies on the output cap that it was told: none may come in among the provider's own fields. */
function withOwnCap(body: JsonObject, { maxOutputTokens }: ChatRequest): JsonObject {
  const { maxTokens: _, ...given } = toObject(body.inferenceConfig) ?? {}
  const inferenceConfig = maxOutputTokens === undefined ? given : { maxTokens: maxOutputTokens, ...given }
  const { inferenceConfig: _given, ...rest } = body
  return Object.keys(inferenceConfig).length === 0 ? rest : { ...rest, inferenceConfig }
}

function encodeBody(request: ChatRequest, model: string, dropped: readonly string[]): JsonObject {
  const { instruction, ...tools } = encodeTools(request, model)
  const toolsAsText = tools.toolConfig === undefined
  const { system, messages } = encodeMessages(request.messages, model, { toolsAsText })
  if (instruction !== undefined) system.push({ text: instruction })
  const extra = dropped.includes('reasoning_effort') ? undefined : encodeReasoning(request, model)
  const inferenceConfig = encodeInference(request, model, dropped)
  return {
    messages,
    ...(system.length === 0 ? {} : { system }),
    ...(Object.keys(inferenceConfig).length === 0 ? {} : { inferenceConfig }),
    ...tools,
    ...(extra === undefined ? {} : { additionalModelRequestFields: extra }),
  }
}

function encodeInference(request: ChatRequest, model: string, dropped: readonly string[]): JsonObject {
  const config: JsonObject = {}
  if (request.maxOutputTokens !== undefined) config.maxTokens = request.maxOutputTokens
  // A value that says what is done without it is refused by some models all the same.
  const isNoOp = (value: number): boolean => value === 1 && findFamily(model) === 'claude'
  const isKept = (name: string, value: number | undefined): value is number =>
    value !== undefined && !dropped.includes(name) && !isNoOp(value)
  if (isKept('temperature', request.temperature)) config.temperature = Math.min(1, request.temperature)
  if (isKept('top_p', request.topP)) config.topP = request.topP
  const stop = request.stop?.filter(text => text.trim() !== '')
  if (stop !== undefined && stop.length > 0) config.stopSequences = stop
  return config
}

export function findUnsupportedParams(
  request: ChatRequest,
  _provider: Provider,
  model: string,
  source?: SourceBody,
): readonly string[] {
  // A body of this same format is the provider's to judge.
  if (source?.format === 'bedrock-converse') return []
  const lost = findLostParams(request, NO_PLACE)
  if (!canHonourChoice(request, model)) lost.push('tool_choice')
  if (!canHonourEffort(request, model)) lost.push('reasoning_effort')
  lost.push(...findRefusedSampling(request, model), ...findLostParts(request.messages, PARTS))
  return lost
}
