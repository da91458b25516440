import type { ChatRequest } from '../../../request/chat-request.ts'

/** What is read of a stop sequence. Providers take far shorter ones, and each target of an alias asks. */
const HEAD_CHARS = 1_024

/** Whether a stop sequence is of white space alone. Anthropic and Bedrock refuse those. */
export function hasBlankStop({ stop }: Pick<ChatRequest, 'stop'>): boolean {
  return stop?.some(sequence => sequence.slice(0, HEAD_CHARS).trim() === '') === true
}
