import type { ChatReply } from '@rideau/llm/reply/chat-reply'
import type { StreamEvent } from '@rideau/llm/stream/stream-event'

/** Returns true if an answer has anything that its model generated, so that output tokens of 0 cannot be true. */
export function hasVisibleOutput({ choices }: Pick<ChatReply, 'choices'>): boolean {
  return choices.some(({ message }) => {
    const { content, refusal, reasoning, reasoning_details: details, tool_calls: calls } = message
    return (
      hasVisibleText(content) ||
      hasVisibleText(refusal) ||
      hasVisibleText(reasoning) ||
      isSome(details) ||
      isSome(calls)
    )
  })
}

/** Returns true if a delta has anything that its model generated. */
export function isVisibleDelta(event: StreamEvent & { type: 'delta' }): boolean {
  const { content, refusal, reasoning, reasoningDetails, toolCalls } = event
  return (
    hasVisibleText(content) ||
    hasVisibleText(refusal) ||
    hasVisibleText(reasoning) ||
    isSome(reasoningDetails) ||
    isSome(toolCalls)
  )
}

/** A quoted text behind the name of a field that holds a part of an answer, in any format whose streams pass undecoded. */
const OUTPUT_TEXT =
  /"(?:content|refusal|reasoning|reasoning_content|text|thinking|partial_json|arguments|delta)"\s*:\s*"[^"]/

/** Returns true if events that pass undecoded have anything that their model generated. */
export function hasVisibleDelta(events: Buffer): boolean {
  return OUTPUT_TEXT.test(events.toString('latin1'))
}

const REASONING_TEXT = /"(?:reasoning|reasoning_content|thinking)"\s*:\s*"[^"]/

/** Returns true if an answer has reasoning that its caller sees. */
export function hasVisibleReasoning({ choices }: Pick<ChatReply, 'choices'>): boolean {
  return choices.some(({ message }) => hasVisibleText(message.reasoning) || isSome(message.reasoning_details))
}

/** The same for a delta, and for events that pass undecoded. */
export function isReasoningDelta(event: StreamEvent & { type: 'delta' }): boolean {
  return hasVisibleText(event.reasoning) || isSome(event.reasoningDetails)
}

export function hasReasoningDelta(events: Buffer): boolean {
  return REASONING_TEXT.test(events.toString('latin1'))
}

function hasVisibleText(text: string | null | undefined): boolean {
  return text !== undefined && text !== null && text !== ''
}

function isSome(list: readonly unknown[] | undefined): boolean {
  return list !== undefined && list.length > 0
}
