import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import type { OpenAiDeviations } from '../../../provider/openai-deviations.ts'
import type { Provider } from '../../../provider/provider.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import { toAddress, toWireModel } from '../../../upstream/openai-address.ts'
import { findReservedOption } from '../../../upstream/outgoing-body.ts'
import type { Target } from '../../../upstream/target.ts'
import type { UpstreamRequest } from '../../../upstream/upstream-request.ts'
import { isHarmless } from '../../shared/harmless-params.ts'
import { findModelRule, listUnsupported } from '../../shared/model-rules.ts'
import { encodeMessages } from './encode-messages.ts'
import { toPlainRequest } from './plain-messages.ts'
import { isForeign, toWireBody, type WireBody } from './wire-body.ts'

type Changes = Map<string, Json | undefined>

const OUTPUT_CAPS = ['max_output_tokens', 'max_completion_tokens', 'max_tokens']
/** What the gateway's own format has for itself: no provider is sent it. */
const NATIVE_ONLY = ['end_user', 'timeout_ms', 'provider_options', 'metadata']
/** What other formats have and this one has not. */
const FOREIGN_PARAMS = ['top_k']
const USAGE_ASKED: JsonObject = { include_usage: true }
const NO_DEVIATIONS: OpenAiDeviations = {}

/**
 * The provider's request: of an OpenAI-shaped body only the fields that must differ are written anew, so that what we
 * do not know passes through. `dropped` are wire names that must not be sent (see findUnsupportedParams).
 */
export function encodeRequest(
  asked: ChatRequest,
  target: Target,
  source: SourceBody | undefined,
  dropped: readonly string[] = [],
): UpstreamRequest {
  const deviations = target.provider.openai ?? NO_DEVIATIONS
  const request = isForeign(source) ? toPlainRequest(asked, deviations) : asked
  const body = toWireBody(request, source)
  const changes: Changes = new Map([['model', toWireModel(target)]])
  if (source?.format === 'native') removeNative(body, changes)
  setOutputCap(
    request,
    body,
    findModelRule(deviations, target.model)?.outputCap ?? deviations.outputCap,
    changes,
  )
  setStream(request, body, deviations, changes)
  const messages = encodeMessages(request.messages, deviations, target.provider.id)
  if (messages !== undefined) changes.set('messages', messages as unknown as Json)
  removeUnsupported(body, deviations.unsupported ?? [], dropped, changes)
  respell(request, body, deviations, changes)
  const passed = body.findReserved(changes)
  const options = request.providerOptions?.[target.provider.id]
  if (options !== undefined) for (const [name, value] of Object.entries(options)) changes.set(name, value)
  const { origin, path } = toAddress(target, '/chat/completions')
  return {
    origin,
    path,
    headers: {
      'content-type': 'application/json',
      accept: request.stream ? 'text/event-stream' : 'application/json',
    },
    body: body.change(changes),
    reserved: passed ?? findReservedOption(options, target),
  }
}

/**
 * Wire names of the parameters that are set, that this provider cannot honour, and whose loss would change the answer:
 * the caller refuses them by name or drops them, by the environment's policy. With `source`, also those that only a
 * compat caller can send, such as `logprobs`.
 */
export function findUnsupportedParams(
  request: ChatRequest,
  provider: Provider,
  model: string,
  source?: SourceBody,
): readonly string[] {
  const foreign = isForeign(source) ? FOREIGN_PARAMS.filter(name => source?.fields.has(name) === true) : []
  const unsupported = listUnsupported(provider.openai ?? NO_DEVIATIONS, model, request)
  if (unsupported.length === 0) return foreign
  const body = toWireBody(request, source)
  return [...foreign, ...unsupported.filter(name => body.has(name) && !isHarmless(name, body.read(name)))]
}

/** In the native format null means absent, which not every provider knows. */
function removeNative(body: WireBody, changes: Changes): void {
  for (const name of NATIVE_ONLY) if (body.has(name)) changes.set(name, undefined)
  for (const name of body.names()) if (body.isNull(name)) changes.set(name, undefined)
}

function setOutputCap(
  request: ChatRequest,
  body: WireBody,
  outputCap: OpenAiDeviations['outputCap'],
  changes: Changes,
): void {
  for (const name of OUTPUT_CAPS) if (body.has(name)) changes.set(name, undefined)
  if (request.maxOutputTokens !== undefined) {
    changes.set(outputCap ?? 'max_tokens', request.maxOutputTokens)
  }
}

/** Usage is always asked for: the provider that is not asked may not tell what its stream cost. */
function setStream(
  request: ChatRequest,
  body: WireBody,
  deviations: OpenAiDeviations,
  changes: Changes,
): void {
  if (body.isTrue('stream') !== request.stream) changes.set('stream', request.stream)
  if (request.stream && deviations.refusesStreamOptions !== true) {
    const given = body.has('stream_options') ? toObject(body.read('stream_options')) : undefined
    changes.set('stream_options', given === undefined ? USAGE_ASKED : { ...given, ...USAGE_ASKED })
  } else if (body.has('stream_options')) {
    changes.set('stream_options', undefined)
  }
}

function removeUnsupported(
  body: WireBody,
  unsupported: readonly string[],
  dropped: readonly string[],
  changes: Changes,
): void {
  for (const name of unsupported) {
    if (body.has(name) && isHarmless(name, body.read(name))) changes.set(name, undefined)
  }
  for (const name of dropped) if (body.has(name)) changes.set(name, undefined)
}

/** Same meaning, other words. */
function respell(request: ChatRequest, body: WireBody, deviations: OpenAiDeviations, changes: Changes): void {
  const { renamed, toolChoiceRequired, reasoningEfforts } = deviations
  for (const name in renamed) {
    const theirs = renamed[name] as string
    if (!body.has(name) || changes.has(name)) continue
    changes.set(name, undefined)
    changes.set(theirs, body.read(name))
  }
  if (toolChoiceRequired !== undefined && request.toolChoice === 'required') {
    changes.set('tool_choice', toolChoiceRequired)
  }
  const effort = request.reasoningEffort
  if (effort === undefined || reasoningEfforts === undefined || !Object.hasOwn(reasoningEfforts, effort))
    return
  changes.set('reasoning_effort', undefined)
  for (const [name, value] of Object.entries(reasoningEfforts[effort] as JsonObject)) changes.set(name, value)
}
