import type { JsonObject } from '../../json/json-value.ts'
import { toObject, toObjects } from '../../json/json-value.ts'
import { estimateTokens } from '../../usage/estimate.ts'
import { answerImages } from './image.ts'
import { countSigned, reason } from './reasoning.ts'
import { errorReply, reply, type SandboxAnswer } from './sandbox-answer.ts'
import { makeInstance } from './schema-instance.ts'
import type { SandboxSpeech } from './speech.ts'
import { toChunks } from './to-chunks.ts'
import { chooseCall, listResults } from './tool-loop.ts'
import { wholeEnd } from './whole-end.ts'

const SLOW_MS = 5000
const MAX_CHOICES = 8
/** The longest part of a message that is repeated, in all choices together. An answer is made in one go, while all other requests wait. */
const ECHO_CHARACTERS = 1024 * 1024

/** Answers one chat request without network. The same request always gets the same answer. */
export function answerSandbox(model: string, body: JsonObject): SandboxAnswer {
  switch (model) {
    case 'timeout':
      return { kind: 'timeout' }
    case 'overloaded':
      return errorReply(503, 'overloaded_error', 'The sandbox is overloaded. Please try again later.')
    case 'unavailable':
      return errorReply(500, 'server_error', 'The sandbox had an error while processing the request.')
    case 'rejected':
      return errorReply(400, 'invalid_request_error', 'The sandbox refuses this request.')
    case 'image':
      return reply(answerImages(body))
    case 'echo':
    case 'slow':
    case 'tools':
    case 'json':
    case 'interrupted':
    case 'reasoning':
      return converse(model, body)
    default:
      return errorReply(404, 'invalid_request_error', 'The model does not exist.', 'model_not_found')
  }
}

function converse(model: string, body: JsonObject): SandboxAnswer {
  if (typeof body.n === 'number' && body.n > MAX_CHOICES) {
    return errorReply(400, 'invalid_request_error', `The sandbox gives at most ${MAX_CHOICES} choices.`)
  }
  const messages = toObjects(body.messages)
  const signed = model === 'reasoning' ? countSigned(messages) : 0
  if (signed === undefined) {
    return errorReply(400, 'invalid_request_error', 'Invalid signature: reasoning must come back unchanged.')
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
  const answer = toReply(speech)
  if (!isCut) return reply(answer, delayMs)
  const text = JSON.stringify(answer)
  return { kind: 'cut', delayMs, body: text.slice(0, text.length >> 1) }
}

function say(
  model: string,
  body: JsonObject,
  messages: readonly JsonObject[],
  signed: number,
): SandboxSpeech {
  const { text, toolCall, reasoning } = choose(model, body, messages, signed)
  const choices = countChoices(body)
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
      completion_tokens: choices * (thought + spoken),
      total_tokens: prompt + choices * (thought + spoken),
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: choices * thought },
    },
    choices,
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
  const longest = Math.ceil(ECHO_CHARACTERS / countChoices(body))
  const echo = said === undefined ? '' : cut(readText(said), longest)
  const reasoning = model === 'reasoning' ? reason(echo, toolCall?.id) : undefined
  if (toolCall !== undefined) return { reasoning, text: undefined, toolCall }
  const note = signed > 0 ? `Signed reasoning came back from ${signed} of my messages. ` : ''
  const answer = results.length > 0 ? cut(results.map(readText).join('\n'), longest) : undefined
  return { reasoning, text: compose(model, body, echo, note, answer), toolCall }
}

/** By the caller's `response_format`, after the results of tools too; else the results, or the user's words. */
function compose(
  model: string,
  body: JsonObject,
  echo: string,
  note: string,
  answer: string | undefined,
): string {
  const format = toObject(body.response_format)
  if (format?.type === 'json_schema')
    return JSON.stringify(makeInstance(toObject(format.json_schema)?.schema))
  const said = answer === undefined ? echo : `The tool answered: ${answer}`
  if (model === 'json' || format?.type === 'json_object') return JSON.stringify({ echo: said })
  return note + said
}

function toReply(speech: SandboxSpeech): JsonObject {
  const { model, reasoning, text, toolCall, finishReason, usage, choices } = speech
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
    choices: Array.from({ length: choices }, (_, index) => ({
      index,
      message,
      logprobs: null,
      finish_reason: finishReason,
    })),
    usage,
  }
}

/** Fixed, so that the same request has the same answer. `created` is 2025-01-01. */
const HEAD = { id: 'chatcmpl-sandbox', created: 1_735_689_600 }

/** Returns the start of a text that `tokens` tokens hold by the estimate: four bytes each, no character cut. */
function firstTokens(text: string, tokens: number): string {
  if (estimateTokens(text) <= tokens) return text
  const bytes = Buffer.from(text)
  let end = Math.max(0, tokens) * 4
  // Not between the bytes of a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}

function cut(text: string, length: number): string {
  return text.slice(0, wholeEnd(text, length))
}

function countChoices({ n }: JsonObject): number {
  return typeof n === 'number' ? Math.max(1, Math.trunc(n)) : 1
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
