import type { JsonObject } from '../../json/json-value.ts'
import { toObject, toObjects } from '../../json/json-value.ts'
import { estimateTokens } from '../../usage/estimate.ts'
import { answerImages } from './image.ts'
import { makeInstance } from './schema-instance.ts'
import type { SandboxSpeech } from './speech.ts'
import { toChunks } from './to-chunks.ts'

/** What the sandbox does with a request, in OpenAI's wire format. Whoever carries it out keeps the time. */
export type SandboxAnswer =
  | {
      readonly kind: 'reply'
      readonly delayMs: number
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: JsonObject
    }
  | {
      readonly kind: 'stream'
      readonly delayMs: number
      /** Payloads of server-sent events, in order. */
      readonly events: readonly string[]
      /** After them the connection breaks instead of ending. */
      readonly isCut: boolean
    }
  /** The connection breaks in the middle of a plain answer. */
  | { readonly kind: 'cut'; readonly delayMs: number; readonly body: string }
  /** No answer ever comes. Reported as a time-out at once. */
  | { readonly kind: 'timeout' }

const SLOW_MS = 5000

/** Answers one chat request without network. The same request always gets the same answer. */
export function answerSandbox(model: string, body: JsonObject): SandboxAnswer {
  switch (model) {
    case 'timeout':
      return { kind: 'timeout' }
    case 'overloaded':
      return refusal(503, 'overloaded_error', 'The sandbox is overloaded. Please try again later.')
    case 'unavailable':
      return refusal(500, 'server_error', 'The sandbox had an error while processing the request.')
    case 'rejected':
      return refusal(400, 'invalid_request_error', 'The sandbox refuses this request.')
    case 'image':
      return { kind: 'reply', delayMs: 0, status: 200, headers: JSON_HEADERS, body: answerImages(body) }
    case 'echo':
    case 'slow':
    case 'tools':
    case 'json':
    case 'interrupted':
      return deliver(model, body, say(model, body))
    default:
      return refusal(404, 'invalid_request_error', 'The model does not exist.', 'model_not_found')
  }
}

function deliver(model: string, body: JsonObject, speech: SandboxSpeech): SandboxAnswer {
  const delayMs = model === 'slow' ? SLOW_MS : 0
  const isCut = model === 'interrupted'
  if (body.stream === true) {
    const includeUsage = toObject(body.stream_options)?.include_usage === true
    const chunks = toChunks(speech, HEAD, includeUsage).map(chunk => JSON.stringify(chunk))
    // A cut leaves the role and the first half of the text.
    const events = isCut ? chunks.slice(0, Math.max(2, chunks.length >> 1)) : [...chunks, '[DONE]']
    return { kind: 'stream', delayMs, events, isCut }
  }
  const reply = toReply(speech)
  if (!isCut) return { kind: 'reply', delayMs, status: 200, headers: JSON_HEADERS, body: reply }
  const text = JSON.stringify(reply)
  return { kind: 'cut', delayMs, body: text.slice(0, text.length >> 1) }
}

function say(model: string, body: JsonObject): SandboxSpeech {
  const messages = toObjects(body.messages)
  const { text, toolCall } = choose(model, body, messages)
  const cap = [body.max_completion_tokens, body.max_tokens].find(value => typeof value === 'number')
  const kept = text === undefined || cap === undefined ? text : firstTokens(text, cap)
  const prompt = Math.max(1, estimateTokens(messages.map(readText).join('\n')))
  const completion = Math.max(1, estimateTokens(kept ?? `${toolCall?.name}${toolCall?.arguments}`))
  return {
    model,
    text: kept,
    toolCall,
    finishReason: toolCall !== undefined ? 'tool_calls' : kept === text ? 'stop' : 'length',
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
  }
}

function choose(
  model: string,
  body: JsonObject,
  messages: readonly JsonObject[],
): Pick<SandboxSpeech, 'text' | 'toolCall'> {
  const last = messages.at(-1)
  if (last?.role === 'tool') return { text: `The tool answered: ${readText(last)}`, toolCall: undefined }
  const toolCall = chooseTool(model, body)
  if (toolCall !== undefined) return { text: undefined, toolCall }
  const said = messages.findLast(({ role }) => role === 'user')
  const echo = said === undefined ? '' : readText(said)
  const format = toObject(body.response_format)
  if (format?.type === 'json_schema') {
    return {
      text: JSON.stringify(makeInstance(toObject(format.json_schema)?.schema)),
      toolCall: undefined,
    }
  }
  const isJson = model === 'json' || format?.type === 'json_object'
  return { text: isJson ? JSON.stringify({ echo }) : echo, toolCall: undefined }
}

/** `tools` calls of its own accord, the others only where the caller insists. */
function chooseTool(model: string, body: JsonObject): SandboxSpeech['toolCall'] {
  const functions = toObjects(body.tools)
    .map(tool => toObject(tool.function))
    .filter(fn => fn !== undefined)
  const choice = body.tool_choice
  const named = toObject(toObject(choice)?.function)?.name
  const isCalled = choice !== 'none' && (model === 'tools' || choice === 'required' || named !== undefined)
  const chosen = isCalled ? (functions.find(({ name }) => name === named) ?? functions[0]) : undefined
  if (chosen === undefined) return undefined
  const args = makeInstance(chosen.parameters ?? { type: 'object', properties: {} })
  return { name: String(chosen.name), arguments: JSON.stringify(toObject(args) ?? {}) }
}

function toReply({ model, text, toolCall, finishReason, usage }: SandboxSpeech): JsonObject {
  const calls =
    toolCall === undefined
      ? {}
      : { tool_calls: [{ id: HEAD.callId, type: 'function', function: { ...toolCall } }] }
  return {
    id: HEAD.id,
    object: 'chat.completion',
    created: HEAD.created,
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: text ?? null, refusal: null, ...calls },
        logprobs: null,
        finish_reason: finishReason,
      },
    ],
    usage,
  }
}

/** Fixed, so that the same request has the same answer. `created` is 2025-01-01. */
const HEAD = { id: 'chatcmpl-sandbox', created: 1_735_689_600, callId: 'call_sandbox' }

const JSON_HEADERS = { 'content-type': 'application/json' }

function refusal(status: number, type: string, message: string, code: string | null = null): SandboxAnswer {
  const body = { error: { message, type, param: null, code } }
  return { kind: 'reply', delayMs: 0, status, headers: JSON_HEADERS, body }
}

/** As much of a text as so many tokens hold by the estimate: four bytes each, no character cut. */
function firstTokens(text: string, tokens: number): string {
  if (estimateTokens(text) <= tokens) return text
  const bytes = Buffer.from(text).subarray(0, Math.max(0, tokens) * 4)
  return bytes.toString('utf8').replace(/\ufffd+$/, '')
}

function readText(message: JsonObject): string {
  if (typeof message.content === 'string') return message.content
  return toObjects(message.content)
    .map(part => (typeof part.text === 'string' ? part.text : ''))
    .filter(text => text !== '')
    .join('\n')
}
