import type { JsonObject } from '../../json/json-value.ts'
import { toObject, toObjects } from '../../json/json-value.ts'
import { estimateTokens } from '../../usage/estimate.ts'
import { answerImages } from './image.ts'
import { countSigned, reason } from './reasoning.ts'
import { makeInstance } from './schema-instance.ts'
import type { SandboxSpeech } from './speech.ts'
import { toChunks } from './to-chunks.ts'
import { chooseCall, listResults } from './tool-loop.ts'
import { wholeEnd } from './whole-end.ts'

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
      /** True if the connection breaks after the chunks instead of ending. */
      readonly isCut: boolean
    }
  /** The connection breaks in the middle of a plain answer. */
  | { readonly kind: 'cut'; readonly delayMs: number; readonly body: string }
  /** No answer ever comes. Reported as a time-out at once. */
  | { readonly kind: 'timeout' }

const SLOW_MS = 5000
/** The longest part of a message that is repeated. An answer is made in one go, while all other requests wait. */
const ECHO_CHARACTERS = 1024 * 1024

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
    case 'reasoning':
      return converse(model, body)
    default:
      return refusal(404, 'invalid_request_error', 'The model does not exist.', 'model_not_found')
  }
}

function converse(model: string, body: JsonObject): SandboxAnswer {
  const messages = toObjects(body.messages)
  const signed = model === 'reasoning' ? countSigned(messages) : 0
  if (signed === undefined) {
    return refusal(400, 'invalid_request_error', 'Invalid signature: reasoning must come back unchanged.')
  }
  return deliver(model, body, say(model, body, messages, signed))
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

function say(
  model: string,
  body: JsonObject,
  messages: readonly JsonObject[],
  signed: number,
): SandboxSpeech {
  const { text, toolCall, reasoning } = choose(model, body, messages, signed)
  const cap = [body.max_completion_tokens, body.max_tokens].find(value => typeof value === 'number')
  const kept = text === undefined || cap === undefined ? text : firstTokens(text, cap)
  const prompt = Math.max(1, estimateTokens(countBytes(messages)))
  const thought = reasoning === undefined ? 0 : estimateTokens(reasoning.text)
  const spoken = Math.max(1, estimateTokens(kept ?? `${toolCall?.name}${toolCall?.arguments}`))
  return {
    model,
    reasoning,
    text: kept,
    toolCall,
    finishReason: toolCall !== undefined ? 'tool_calls' : kept === text ? 'stop' : 'length',
    usage: {
      prompt_tokens: prompt,
      completion_tokens: thought + spoken,
      total_tokens: prompt + thought + spoken,
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: thought },
    },
  }
}

/** `signed`: the messages whose reasoning came back as the sandbox signed it. */
function choose(
  model: string,
  body: JsonObject,
  messages: readonly JsonObject[],
  signed: number,
): Pick<SandboxSpeech, 'text' | 'toolCall' | 'reasoning'> {
  const results = listResults(messages)
  const toolCall = results.length > 0 ? undefined : chooseCall(model, body, messages)
  const said = messages.findLast(({ role }) => role === 'user')
  const echo = said === undefined ? '' : cut(readText(said))
  const reasoning = model === 'reasoning' ? reason(echo, toolCall?.id) : undefined
  if (toolCall !== undefined) return { reasoning, text: undefined, toolCall }
  const note = signed > 0 ? `Signed reasoning came back from ${signed} of my messages. ` : ''
  return { reasoning, text: compose(model, body, echo, note, results), toolCall }
}

/** By the caller's `response_format`, after the results of tools too; else the results, or the user's words. */
function compose(
  model: string,
  body: JsonObject,
  echo: string,
  note: string,
  results: readonly JsonObject[],
): string {
  const format = toObject(body.response_format)
  if (format?.type === 'json_schema')
    return JSON.stringify(makeInstance(toObject(format.json_schema)?.schema))
  const said = results.length > 0 ? `The tool answered: ${cut(results.map(readText).join('\n'))}` : echo
  if (model === 'json' || format?.type === 'json_object') return JSON.stringify({ echo: said })
  return note + said
}

function toReply({ model, reasoning, text, toolCall, finishReason, usage }: SandboxSpeech): JsonObject {
  const message: JsonObject = { role: 'assistant', content: text ?? null, refusal: null }
  if (reasoning !== undefined) {
    message.reasoning = reasoning.text
    message.reasoning_details = [...reasoning.details]
  }
  if (toolCall !== undefined) {
    const { id, ...fn } = toolCall
    message.tool_calls = [{ id, type: 'function', function: fn }]
  }
  return {
    id: HEAD.id,
    object: 'chat.completion',
    created: HEAD.created,
    model,
    choices: [
      {
        index: 0,
        message,
        logprobs: null,
        finish_reason: finishReason,
      },
    ],
    usage,
  }
}

/** Fixed, so that the same request has the same answer. `created` is 2025-01-01. */
const HEAD = { id: 'chatcmpl-sandbox', created: 1_735_689_600 }

const JSON_HEADERS = { 'content-type': 'application/json' }

function refusal(status: number, type: string, message: string, code: string | null = null): SandboxAnswer {
  const body = { error: { message, type, param: null, code } }
  return { kind: 'reply', delayMs: 0, status, headers: JSON_HEADERS, body }
}

/** Returns the start of a text that `tokens` tokens hold by the estimate: four bytes each, no character cut. */
function firstTokens(text: string, tokens: number): string {
  if (estimateTokens(text) <= tokens) return text
  const bytes = Buffer.from(text)
  let end = Math.max(0, tokens) * 4
  // Not between the bytes of a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}

function cut(text: string): string {
  return text.slice(0, wholeEnd(text, ECHO_CHARACTERS))
}

/** Counts the bytes of the texts of all messages, a line each. */
function countBytes(messages: readonly JsonObject[]): number {
  return messages.reduce((sum, message) => sum + 1 + Buffer.byteLength(readText(message)), -1)
}

function readText(message: JsonObject): string {
  if (typeof message.content === 'string') return message.content
  return toObjects(message.content)
    .map(part => (typeof part.text === 'string' ? part.text : ''))
    .filter(text => text !== '')
    .join('\n')
}
