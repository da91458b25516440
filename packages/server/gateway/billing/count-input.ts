import type { ChatRequest } from '@rideau/llm/request/chat-request'
import { findMediaType } from '@rideau/llm/request/media-type'
import type { ContentPart, Message } from '@rideau/llm/request/message'
import { estimateMaxTokens, estimateTokens } from '@rideau/llm/usage/estimate'
import { countHeard } from './heard-tokens.ts'

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

type Count = (text: string) => number

/** Estimates the input tokens that a provider is likely to count. Billed when the provider reports no usage. */
export function countInput(request: ChatRequest): number {
  return countBy(request, estimateTokens)
}

/** Estimates the most input tokens that a provider may count. Used for reservations. */
export function countMaxInput(request: ChatRequest): number {
  let around = TOKENS_A_REQUEST
  if (request.tools !== undefined && request.tools.length > 0) around += TOKENS_OF_TOOLS
  if (request.responseFormat !== undefined) around += TOKENS_OF_FORMAT
  return countBy(request, estimateMaxTokens) + around
}

function countBy(request: ChatRequest, count: Count): number {
  let tokens = 0
  for (const message of request.messages) tokens += countMessage(message, count)
  if (request.tools !== undefined) tokens += count(JSON.stringify(request.tools))
  if (request.responseFormat !== undefined) tokens += count(JSON.stringify(request.responseFormat))
  if (request.passedInput !== undefined) tokens += count(JSON.stringify(request.passedInput))
  return tokens
}

function countMessage({ content, tool_calls: toolCalls }: Message, count: Count): number {
  let tokens = TOKENS_A_MESSAGE
  if (typeof content === 'string') tokens += count(content)
  else if (Array.isArray(content)) for (const part of content) tokens += countPart(part, count)
  if (toolCalls !== undefined && toolCalls !== null) tokens += count(JSON.stringify(toolCalls))
  return tokens
}

function countPart(part: ContentPart, count: Count): number {
  if (part.type === 'image_url' && isImage(part)) return TOKENS_AN_IMAGE
  if (part.type === 'text' && typeof part.text === 'string') return count(part.text)
  return Math.max(count(JSON.stringify(part)), countHeard(part))
}

/** False: other data in the place of an image, which some providers read as what it is. */
export function isImage(part: ContentPart): boolean {
  const type = findMediaType(part)
  return type === undefined || type === '' || type.startsWith('image/')
}
