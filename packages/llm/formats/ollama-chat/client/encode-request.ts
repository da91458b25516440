import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toText } from '../../../json/json-value.ts'
import { toSentJson } from '../../../json/unwritten-json.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { joinAddress } from '../../../upstream/join-address.ts'
import { mergeOptions, toCallerOptions } from '../../../upstream/outgoing-body.ts'
import type { Target } from '../../../upstream/target.ts'
import type { EncodeRequest, ListUnsupportedParams } from '../../shared/client-format.ts'
import { listLostExtras, listLostParts } from '../../shared/requests/lost-params.ts'
import { NO_PARAMETERS } from '../../shared/tools/input-schema.ts'
import { FIELDS } from '../wire/fields.ts'
import { encodeMessages, PARTS } from './encode-messages.ts'

/** Fields of this format that a caller of OpenAI's may send beside its own: they go out as they are. */
const PASSED_ON = ['think', 'keep_alive', 'options']

/**
 * The canonical request as `POST /api/chat` takes it. The address of a credential may end in `/v1`, where the same server
 * speaks OpenAI's format; this one lies beside it.
 */
export const encodeRequest: EncodeRequest = (request, target, source, dropped = []) => {
  const encoded = encodeBody(request, target)
  for (const name of dropped) FIELDS.remove(encoded, name)
  const passed = source?.format === 'ollama-chat' ? request.ownFields : readPassedOn(request)
  const options = request.providerOptions?.[target.provider.id]
  const body = withOwnCap(mergeOptions(mergeOptions(encoded, passed), options), request)
  return {
    ...joinAddress(target.baseUrl.replace(/\/v1$/, ''), '/api/chat'),
    headers: {
      'content-type': 'application/json',
      accept: request.stream ? 'application/x-ndjson' : 'application/json',
    },
    body: toSentJson(body),
    content: {
      rules: FIELDS.rules,
      value: withoutOwnContext(body, target),
      options: toCallerOptions(target, options),
    },
  }
}

function readPassedOn({ extra }: ChatRequest): JsonObject | undefined {
  if (extra === undefined) return undefined
  const passed = PASSED_ON.map(name => [name, extra.get(name)] as const)
  return Object.fromEntries(passed.filter(([, value]) => value !== undefined))
}

/** The gateway relies on the output cap that it set: the options that were merged in may have none. */
function withOwnCap(body: JsonObject, { maxOutputTokens }: ChatRequest): JsonObject {
  const { num_predict: _, ...options } = toObject(body.options) ?? {}
  if (maxOutputTokens !== undefined) options.num_predict = maxOutputTokens
  const { options: _given, ...rest } = body
  return Object.keys(options).length === 0 ? rest : { ...rest, options }
}

function encodeBody(request: ChatRequest, target: Target): JsonObject {
  const body: JsonObject = {
    model: target.model,
    messages: encodeMessages(request.messages),
    // Without it the answer is a stream.
    stream: request.stream,
  }
  const context = readContext(target)
  if (context !== undefined) body.options = { num_ctx: context }
  FIELDS.write(request, body)
  const tools = encodeTools(request)
  if (tools.length > 0) body.tools = tools
  const format = encodeFormat(request)
  if (format !== undefined) body.format = format
  const think = encodeEffort(request, target.model)
  if (think !== undefined) body.think = think
  return body
}

/**
 * The context length that the credential sets. A server's own default is small, and it cuts a longer prompt without an
 * error.
 */
function readContext({ options }: Target): number | undefined {
  const context = Number(toText(options?.num_ctx) ?? '')
  return Number.isSafeInteger(context) && context > 0 ? context : undefined
}

/** The context length is not a caller's, unless it differs from the credential's. */
function withoutOwnContext(body: JsonObject, target: Target): JsonObject {
  const options = toObject(body.options)
  if (options?.num_ctx === undefined || options.num_ctx !== readContext(target)) return body
  const { num_ctx: _, ...rest } = options
  return { ...body, options: rest }
}

/** The format has no choice of tools: if none may be called, no tools are sent. */
function encodeTools({ tools = [], toolChoice }: ChatRequest): JsonObject[] {
  if (toolChoice === 'none') return []
  return tools.map(({ function: { name, description, parameters } }) => ({
    type: 'function',
    function: { name, ...(description ? { description } : {}), parameters: parameters ?? NO_PARAMETERS },
  }))
}

function encodeFormat({ responseFormat: format }: ChatRequest): Json | undefined {
  if (format === undefined || format.type === 'text') return undefined
  return format.type === 'json_schema' && format.json_schema.schema ? format.json_schema.schema : 'json'
}

/** Only models named gpt-oss take efforts, of which `none` is not one. Every other model thinks or does not. */
function encodeEffort({ reasoningEffort: effort }: ChatRequest, model: string): Json | undefined {
  if (effort === undefined) return undefined
  if (!model.includes('gpt-oss')) return effort !== 'none'
  if (effort === 'none' || effort === 'minimal') return 'low'
  return effort === 'xhigh' || effort === 'max' ? 'high' : effort
}

export const listUnsupportedParams: ListUnsupportedParams = (request, _provider, _model) => {
  const { toolChoice } = request
  const lost = [...FIELDS.listUnsupported(request), ...listLostExtras(request, PASSED_ON)]
  if (toolChoice === 'required' || typeof toolChoice === 'object') lost.push('tool_choice')
  return [...lost, ...listLostParts(request.messages, PARTS)]
}
