import type { ChatRequest } from '../../../request/chat-request.ts'
import type { Message } from '../../../request/message.ts'
import { FORMAT } from '../claude/claude-thinking.ts'
import { listReasoningDetails } from './reasoning-carrier.ts'

/**
 * True if the last turn of the assistant has calls without the thinking before them, because another provider made them.
 * Claude refuses a thinking budget there, so this answer is made without thinking. What the user says behind the results
 * belongs to their turn, so it changes nothing.
 */
export function lacksThinking({ messages }: ChatRequest): boolean {
  const turn = listLastTurn(messages)
  const hasCalls = turn.some(({ tool_calls: calls }) => (calls ?? []).length > 0)
  return hasCalls && turn.every(message => listReasoningDetails(message, FORMAT).length === 0)
}

/** The last messages of the assistant that follow each other: the formats of Anthropic and Bedrock make one turn of them. */
function listLastTurn(messages: readonly Message[]): readonly Message[] {
  const end = messages.findLastIndex(({ role }) => role === 'assistant') + 1
  const before = messages.slice(0, end).findLastIndex(({ role }) => role !== 'assistant')
  return messages.slice(before + 1, end)
}
