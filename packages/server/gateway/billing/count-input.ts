import type { Json } from '@rideau/llm/json/json-value'
import type { ChatRequest } from '@rideau/llm/request/chat-request'
import { findMediaType } from '@rideau/llm/request/media-type'
import type { ContentPart, Message } from '@rideau/llm/request/message'
import { estimateMaxTokens, estimateTokens } from '@rideau/llm/usage/estimate'
import { LongTexts, type RandomBytes } from '@rideau/llm/usage/long-texts'
import { type Audio, findData, hearAudio } from './heard-tokens.ts'

/** Tokens of a message besides its text. */
const TOKENS_A_MESSAGE = 4
/** Tokens of an image in high detail, whatever its size in bytes. At some models it may have more: see image-tokens.ts. */
export const TOKENS_AN_IMAGE = 1_600

/** Tokens that chat templates add to any request. */
const TOKENS_A_REQUEST = 16
/**
 * Tokens of the instructions that a provider adds for tools (Anthropic documents up to 530) or for a response format.
 */
const TOKENS_OF_TOOLS = 530
const TOKENS_OF_FORMAT = 128

/** Returns the tokens of texts, and of values as JSON. */
interface Count {
  text(text: string): number
  json(value: unknown): number
  /** Of a part that is neither text nor an image, with audio of so many tokens. */
  part(part: ContentPart, heard: number): number
}

const LIKELY: Count = toCount(estimateTokens)
const MOST: Count = toCount(estimateMaxTokens)

function toCount(estimate: (text: string) => number): Count {
  return {
    text: estimate,
    json: value => estimate(JSON.stringify(value)),
    part: (part, heard) => Math.max(estimate(JSON.stringify(part)), heard),
  }
}

/** Estimates the input tokens that a provider is likely to count. Billed when the provider reports no usage. */
export function countInput(request: ChatRequest, audio = hearAudio(request)): number {
  return countBy(request, audio, LIKELY)
}

/** Estimates the most input tokens that a provider may count. Used for reservations. */
export function countMaxInput(request: ChatRequest, audio = hearAudio(request)): number {
  return countBy(request, audio, MOST) + countAround(request)
}

/** Estimates both for a request that is too long to be read, by a sample of its texts. */
export function sampleInput(
  request: ChatRequest,
  audio: Audio,
  random: RandomBytes,
): { readonly likely: number; readonly most: number } {
  const texts = new LongTexts()
  const others = countBy(request, audio, {
    text(text) {
      texts.add(text)
      return 0
    },
    json(value) {
      texts.addJson(value as Json | undefined)
      return 0
    },
    part(part, heard) {
      texts.addJson(part)
      return heard === 0 ? 0 : Math.max(0, heard - estimateTokens(findData(part)?.length ?? 0))
    },
  })
  const { bytes, mostSixteenths } = texts.weigh(random)
  // Tokens of each text are rounded up.
  const likely = Math.ceil(others + bytes / 4 + texts.count / 2)
  return { likely, most: Math.ceil(others + mostSixteenths / 16 + texts.count) + countAround(request) }
}

/** Returns the tokens that providers may add to what a request says. */
function countAround({ tools, responseFormat }: ChatRequest): number {
  let around = TOKENS_A_REQUEST
  if (tools !== undefined && tools.length > 0) around += TOKENS_OF_TOOLS
  if (responseFormat !== undefined) around += TOKENS_OF_FORMAT
  return around
}

function countBy(request: ChatRequest, audio: Audio, count: Count): number {
  let tokens = 0
  for (const message of request.messages) tokens += countMessage(message, audio, count)
  if (request.tools !== undefined) tokens += count.json(request.tools)
  if (request.responseFormat !== undefined) tokens += count.json(request.responseFormat)
  if (request.passedInput !== undefined) tokens += count.json(request.passedInput)
  return tokens
}

function countMessage({ content, tool_calls: toolCalls }: Message, audio: Audio, count: Count): number {
  let tokens = TOKENS_A_MESSAGE
  if (typeof content === 'string') tokens += count.text(content)
  else if (Array.isArray(content)) for (const part of content) tokens += countPart(part, audio, count)
  if (toolCalls !== undefined && toolCalls !== null) tokens += count.json(toolCalls)
  return tokens
}

function countPart(part: ContentPart, { byPart }: Audio, count: Count): number {
  if (part.type === 'image_url' && isImage(part)) return TOKENS_AN_IMAGE
  if (part.type === 'text' && typeof part.text === 'string') return count.text(part.text)
  return count.part(part, byPart?.get(part) ?? 0)
}

/** False: other data in the place of an image, which some providers read as what it is. */
export function isImage(part: ContentPart): boolean {
  const type = findMediaType(part)
  return type === undefined || type === '' || type.startsWith('image/')
}
