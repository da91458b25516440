import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import type { OpenAiDeviations, OpenAiModelRule } from '../../../provider/openai-deviations.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { Message } from '../../../request/message.ts'
import { toAddress, toWireModel } from '../../../upstream/openai-address.ts'
import { toCallerOptions } from '../../../upstream/outgoing-body.ts'
import type { EncodeRequest, ListUnsupportedParams } from '../../shared/client-format.ts'
import { findModelRule, listUnsupported } from '../../shared/reading/model-rules.ts'
import { isHarmless } from '../../shared/requests/harmless-params.ts'
import { isFileByAddress } from '../../shared/requests/lost-params.ts'
import { GATEWAY_FIELDS } from '../../shared/requests/openai-fields.ts'
import { FIELDS } from '../wire/fields.ts'
import { encodeMessages } from './encode-messages.ts'
import { toPlainRequest } from './plain-messages.ts'
import { isForeign, toWireBody, type WireBody } from './wire-body.ts'

type Changes = Map<string, Json | undefined>

const STORE = 'store'
const PARALLEL = 'parallel_tool_calls'
const OUTPUT_CAPS = FIELDS.namesOf('maxOutputTokens')
const USAGE_ASKED: JsonObject = { include_usage: true }
/** The most tokens of reasoning, at providers that bound it apart. */
const BUDGET = 'thinking_budget'
const NO_DEVIATIONS: OpenAiDeviations = {}

/**
 * Encodes a request to a provider. Of a received body in OpenAI's shape only the fields that must differ are written again,
 * so that unknown ones pass through. `dropped`: names of parameters that must not be sent.
 */
export const encodeRequest: EncodeRequest = (received, target, source, dropped = []) => {
  const deviations = target.provider.openai ?? NO_DEVIATIONS
  const rule = findModelRule(deviations, target.model)
  const request = isForeign(source) ? toPlainRequest(received, deviations, rule) : received
  const body = toWireBody(request, source)
  const changes: Changes = new Map([['model', toWireModel(target)]])
  if (request.respelled !== undefined && !isForeign(source))
    respellFields(request.respelled, deviations, changes)
  if (source?.format === 'native') removeNative(request, body, changes)
  setOutputCap(request, body, rule?.outputCap ?? deviations.outputCap, changes)
  setStream(request, body, deviations, changes)
  const messages =
    encodeMessages(request.messages, deviations, target.provider.id) ??
    (request.hasFetchedImages === true ? request.messages : undefined)
  if (messages !== undefined) changes.set('messages', messages as unknown as Json)
  if (dropped.some(path => path.startsWith('tools['))) removeTools(request, body, changes)
  // OpenAI refuses it without tools, where it asks for nothing.
  if (body.has(PARALLEL) && (request.tools ?? []).length === 0) changes.set(PARALLEL, undefined)
  removeUnsupported(request, body, deviations.unsupported ?? [], dropped, changes)
  // An end user's answer is not stored, also where the account's own setting is to store.
  if (dropped.includes(STORE) && (rule?.storesAnswers ?? deviations.storesAnswers) === true)
    changes.set(STORE, false)
  respell(request, body, deviations, changes)
  const options = request.providerOptions?.[target.provider.id]
  if (options !== undefined) for (const [name, value] of Object.entries(options)) changes.set(name, value)
  boundReasoning(request, body, rule, changes)
  const { origin, path } = toAddress(target, '/chat/completions')
  return {
    origin,
    path,
    headers: {
      'content-type': 'application/json',
      accept: request.stream ? 'text/event-stream' : 'application/json',
    },
    body: body.change(changes),
    content: { rules: FIELDS.rules, value: body.value, changes, options: toCallerOptions(target, options) },
  }
}

/** See ClientFormat. Fields that only a caller of this format can send are extra fields of the request. */
export const listUnsupportedParams: ListUnsupportedParams = (request, provider, model, source) => {
  const unsupported = listUnsupported(provider.openai ?? NO_DEVIATIONS, model, request)
  const refused = unsupported.filter(name => !isHarmless(name, FIELDS.valueOf(request, name)))
  return isForeign(source) && request.messages.some(hasFileByAddress) ? [...refused, 'file_url'] : refused
}

function hasFileByAddress({ content }: Message): boolean {
  return Array.isArray(content) && content.some(isFileByAddress)
}

/** Writes fields that the caller spelled otherwise. A provider that has `reasoning` itself gets it as it came. */
function respellFields(
  respelled: ReadonlyMap<string, Json | undefined>,
  { takesReasoning = false }: OpenAiDeviations,
  changes: Changes,
): void {
  const isKept = takesReasoning && respelled.has('reasoning')
  for (const [name, value] of respelled) {
    if (!isKept || (name !== 'reasoning' && name !== 'reasoning_effort')) changes.set(name, value)
  }
}

/** Leaves out tools that a provider would run: what stays is the functions. Without any there is nothing to choose. */
function removeTools(request: ChatRequest, body: WireBody, changes: Changes): void {
  const tools = request.tools as unknown as Json | undefined
  if (body.has('tools') || changes.has('tools')) changes.set('tools', tools)
  if (tools !== undefined) return
  for (const name of ['tool_choice', 'parallel_tool_calls']) {
    if (body.has(name) || changes.has(name)) changes.set(name, undefined)
  }
}

/** Removes the gateway's own fields, and nulls: they mean absent in the native format, which not every provider knows. */
function removeNative(request: ChatRequest, body: WireBody, changes: Changes): void {
  for (const name of body.names()) {
    if (body.isNull(name) || Object.hasOwn(GATEWAY_FIELDS, name)) changes.set(name, undefined)
  }
  // The selection of targets removes an effort that asks a model for nothing: `none`, of a model that cannot reason.
  if (request.reasoningEffort === undefined && body.has('reasoning_effort')) {
    changes.set('reasoning_effort', undefined)
  }
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

/** Keeps a budget of reasoning to the output cap, which it divides where that would leave reasoning out. */
function boundReasoning(
  { maxOutputTokens: cap }: ChatRequest,
  body: WireBody,
  rule: OpenAiModelRule | undefined,
  changes: Changes,
): void {
  if (cap === undefined) return
  const budgetTokens = readChanged(BUDGET, body, changes)
  // The provider takes no budget of zero.
  const half = Math.max(1, Math.floor(cap / 2))
  if (rule?.reasonsBesideCap === undefined) {
    if (typeof budgetTokens === 'number' && budgetTokens > cap) changes.set(BUDGET, half)
    return
  }
  const enabled = readChanged('enable_thinking', body, changes)
  // Any other value, such as the text "true", may count as true.
  if (enabled === false || (rule.reasonsBesideCap === 'asked' && (enabled ?? budgetTokens) === undefined))
    return
  const budget = typeof budgetTokens === 'number' && budgetTokens >= 1 ? Math.min(budgetTokens, half) : half
  changes.set(BUDGET, budget)
  changes.set(rule.outputCap ?? 'max_tokens', Math.max(1, cap - budget))
}

/** Null means absent. */
function readChanged(name: string, body: WireBody, changes: Changes): Json | undefined {
  return (changes.has(name) ? changes.get(name) : body.read(name)) ?? undefined
}

/** Asks for usage in every stream: a provider that is not asked may not report it. */
function setStream(
  request: ChatRequest,
  body: WireBody,
  deviations: OpenAiDeviations,
  changes: Changes,
): void {
  if (body.isTrue('stream') !== request.stream) changes.set('stream', request.stream)
  if (request.stream && deviations.refusesStreamOptions !== true) {
    // Other options of a stream have no canonical meaning: they are kept as they were received.
    const given = body.has('stream_options') ? toObject(body.read('stream_options')) : undefined
    changes.set('stream_options', given === undefined ? USAGE_ASKED : { ...given, ...USAGE_ASKED })
  } else if (body.has('stream_options')) {
    changes.set('stream_options', undefined)
  }
}

/** Without `dropped`, only what asks for nothing is removed. */
function removeUnsupported(
  request: ChatRequest,
  body: WireBody,
  unsupported: readonly string[],
  dropped: readonly string[],
  changes: Changes,
): void {
  for (const name of unsupported) {
    const isSet = body.has(name) || changes.has(name)
    if (isSet && isHarmless(name, FIELDS.valueOf(request, name))) changes.set(name, undefined)
  }
  for (const name of dropped) {
    if (body.has(name) || changes.has(name))
      changes.set(name, name === STORE && !unsupported.includes(name) ? false : undefined)
  }
}

/** Writes parameters in the provider's own words for the same meaning. */
function respell(request: ChatRequest, body: WireBody, deviations: OpenAiDeviations, changes: Changes): void {
  const { renamed, toolChoiceRequired, reasoningEfforts } = deviations
  for (const name in renamed) {
    const theirs = renamed[name] as string
    if (!body.has(name) || changes.has(name)) continue
    changes.set(name, undefined)
    changes.set(theirs, FIELDS.valueOf(request, name))
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
