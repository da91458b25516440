import type { JsonObject } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import { toSentJson } from '../../../json/unwritten-json.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ContentPart, Message } from '../../../request/message.ts'
import { joinAddress } from '../../../upstream/join-address.ts'
import { mergeOptions, toCallerOptions } from '../../../upstream/outgoing-body.ts'
import type { Target } from '../../../upstream/target.ts'
import type { EncodedRequest } from '../../../upstream/upstream-request.ts'
import type { EncodeRequest, ListUnsupportedParams } from '../../shared/client-format.ts'
import { toResultContent } from '../../shared/errors/error-content.ts'
import { plainToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { listLostExtras, listLostParts } from '../../shared/requests/lost-params.ts'
import { listFunctionCalls } from '../../shared/tools/function-calls.ts'
import { NO_PARAMETERS } from '../../shared/tools/input-schema.ts'
import { FIELDS } from '../wire/fields.ts'
import { passRequest } from './pass-request.ts'

const PARTS: ReadonlySet<string> = new Set(['text', 'refusal', 'image_url', 'document'])
/** Fields of this format that a caller of OpenAI's may send beside its own: they go out as they are. */
const PASSED_ON = ['k', 'p', 'thinking', 'safety_mode', 'citation_options', 'strict_tools']

/** Thinking tokens of an effort; of the highest as many as the model wants. */
const BUDGETS: Readonly<Record<string, number>> = toTable({ minimal: 512, low: 2048, medium: 8192 })

/** The canonical request as `POST /v2/chat` takes it; a body of this format passes through. */
export const encodeRequest: EncodeRequest = (request, target, source, dropped = []) => {
  return {
    ...joinAddress(target.baseUrl, '/chat'),
    headers: {
      'content-type': 'application/json',
      accept: request.stream ? 'text/event-stream' : 'application/json',
    },
    ...(source?.format === 'cohere-v2'
      ? passRequest(request, target.model, source, dropped)
      : translateBody(request, target, dropped)),
  }
}

function translateBody(
  request: ChatRequest,
  target: Target,
  dropped: readonly string[],
): Pick<EncodedRequest, 'body' | 'content'> {
  const body = encodeBody(request, target.model)
  for (const name of PASSED_ON) {
    const value = request.extra?.get(name)
    if (value !== undefined) body[name] = value
  }
  for (const name of dropped) delete body[FIELDS.spellings.get(name) ?? name]
  const options = request.providerOptions?.[target.provider.id]
  const merged = mergeOptions(body, options)
  return {
    body: toSentJson(merged),
    content: { rules: FIELDS.rules, value: merged, options: toCallerOptions(target, options) },
  }
}

function encodeBody(request: ChatRequest, model: string): JsonObject {
  const body: JsonObject = {
    model,
    messages: request.messages.map(encodeMessage),
    stream: request.stream,
  }
  FIELDS.write(request, body)
  Object.assign(body, encodeTools(request))
  const format = encodeFormat(request)
  if (format !== undefined) body.response_format = format
  const thinking = encodeThinking(request, model)
  if (thinking !== undefined) body.thinking = thinking
  return body
}

/** A function that must be called is sent alone: the format cannot name one of several. */
function encodeTools({ tools, toolChoice }: ChatRequest): JsonObject {
  if (tools === undefined || tools.length === 0) return {}
  const named = typeof toolChoice === 'object' ? toolChoice.function.name : undefined
  const sent = named === undefined ? tools : tools.filter(tool => tool.function.name === named)
  const encoded = sent.map(({ function: { name, description, parameters } }) => ({
    type: 'function',
    function: { name, ...(description ? { description } : {}), parameters: parameters ?? NO_PARAMETERS },
  }))
  if (toolChoice === 'required' || named !== undefined) return { tools: encoded, tool_choice: 'REQUIRED' }
  return toolChoice === 'none' ? { tools: encoded, tool_choice: 'NONE' } : { tools: encoded }
}

function encodeFormat({ responseFormat }: ChatRequest): JsonObject | undefined {
  if (responseFormat === undefined || responseFormat.type === 'text') return undefined
  const schema = responseFormat.type === 'json_schema' ? responseFormat.json_schema.schema : undefined
  return { type: 'json_object', ...(schema ? { json_schema: schema } : {}) }
}

function encodeThinking({ reasoningEffort: effort }: ChatRequest, model: string): JsonObject | undefined {
  if (effort === undefined || !reasons(model)) return undefined
  if (effort === 'none') return { type: 'disabled' }
  const budget = BUDGETS[effort]
  return { type: 'enabled', ...(budget === undefined ? {} : { token_budget: budget }) }
}

function reasons(model: string): boolean {
  return /reasoning|command-a-plus|north-/.test(model)
}

function encodeMessage(message: Message): JsonObject {
  const content = encodeContent(toResultContent(message))
  switch (message.role) {
    case 'assistant': {
      const calls = listFunctionCalls(message).map(({ id, function: fn }) => ({
        id: plainToolCallId(id),
        type: 'function',
        function: { name: fn.name, arguments: fn.arguments === '' ? '{}' : fn.arguments },
      }))
      const hasCalls = calls.length > 0
      const plan = hasCalls && typeof message.reasoning === 'string' ? message.reasoning : ''
      return {
        role: 'assistant',
        ...(content === undefined ? {} : { content }),
        ...(hasCalls ? { tool_calls: calls } : {}),
        ...(plan === '' ? {} : { tool_plan: plan }),
      }
    }
    case 'tool':
      return {
        role: 'tool',
        tool_call_id: plainToolCallId(message.tool_call_id ?? ''),
        content: content ?? '',
      }
    default:
      return { role: message.role === 'developer' ? 'system' : message.role, content: content ?? '' }
  }
}

/** Texts and images have OpenAI's form. */
function encodeContent(content: Message['content']): string | JsonObject[] | undefined {
  if (content === null || content === undefined) return undefined
  return typeof content === 'string' ? content : content.filter(({ type }) => PARTS.has(type)).map(encodePart)
}

function encodePart(part: ContentPart): JsonObject {
  if (part.type === 'image_url') return { type: 'image_url', image_url: part.image_url }
  // Its own kind of part, which some send as the result of a tool.
  if (part.type === 'document') return { type: 'document', document: part.document }
  return { type: 'text', text: part[part.type] }
}

export const listUnsupportedParams: ListUnsupportedParams = (request, _provider, model, source) => {
  // A body of this same format is the provider's to judge.
  if (source?.format === 'cohere-v2') return []
  const lost = [...FIELDS.listUnsupported(request), ...listLostExtras(request, PASSED_ON)]
  const { presencePenalty = 0, frequencyPenalty = 0, reasoningEffort } = request
  if (presencePenalty < 0 || presencePenalty > 1) lost.push('presence_penalty')
  if (frequencyPenalty < 0 || frequencyPenalty > 1) lost.push('frequency_penalty')
  if (reasoningEffort !== undefined && reasoningEffort !== 'none' && !reasons(model))
    lost.push('reasoning_effort')
  return [...lost, ...listLostParts(request.messages, PARTS)]
}
