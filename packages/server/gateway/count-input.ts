import { estimateTokens } from '@rideau/llm/estimate'
import type { ChatRequest, ContentPart, Message } from '@rideau/llm/spec'

/** What a message costs besides its text. */
const TOKENS_A_MESSAGE = 4
/** An image in high detail, whatever its bytes. */
const TOKENS_AN_IMAGE = 1_600

/** The tokens that a provider will count as this request's input, rather high than low. */
export function countInput(request: ChatRequest): number {
  let tokens = 0
  for (const message of request.messages) tokens += countMessage(message)
  if (request.tools !== undefined) tokens += estimateTokens(JSON.stringify(request.tools))
  if (request.responseFormat !== undefined) tokens += estimateTokens(JSON.stringify(request.responseFormat))
  if (request.passedInput !== undefined) tokens += estimateTokens(JSON.stringify(request.passedInput))
  return tokens
}

function countMessage({ content, tool_calls: toolCalls }: Message): number {
  let tokens = TOKENS_A_MESSAGE
  if (typeof content === 'string') tokens += estimateTokens(content)
  else if (Array.isArray(content)) for (const part of content) tokens += countPart(part)
  if (toolCalls !== undefined && toolCalls !== null) tokens += estimateTokens(JSON.stringify(toolCalls))
  return tokens
}

function countPart(part: ContentPart): number {
  if (part.type === 'image_url') return TOKENS_AN_IMAGE
  return estimateTokens(typeof part.text === 'string' ? part.text : JSON.stringify(part))
}
