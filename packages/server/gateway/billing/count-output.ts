import type { StreamEvent } from '@rideau/llm/stream/stream-event'
import { estimateTokens } from '@rideau/llm/usage/estimate'

/** Bytes of an event besides its text, at least. */
const EVENT_BYTES = 320

/**
 * Estimates the output tokens of events: at least one for each delta. Most providers send one token an event, some send
 * whole sentences.
 */
export function countEvents(events: readonly StreamEvent[]): number {
  let tokens = 0
  for (const event of events) if (event.type === 'delta') tokens += countDelta(event)
  return tokens
}

function countDelta({ content, reasoning, refusal, toolCalls }: StreamEvent & { type: 'delta' }): number {
  const isEmpty = content === undefined && reasoning === undefined && refusal === undefined
  if (isEmpty && toolCalls === undefined) return 0
  let chars = (content?.length ?? 0) + (reasoning?.length ?? 0) + (refusal?.length ?? 0)
  if (toolCalls !== undefined) {
    for (const call of toolCalls) {
      chars += (call.function?.arguments?.length ?? 0) + (call.function?.name?.length ?? 0)
    }
  }
  return Math.max(1, estimateTokens(chars))
}

/** Estimates the output tokens of a chunk that is passed on undecoded: at least one for each of its events. */
export function countTokens(chunk: Buffer, events = countBlankLines(chunk)): number {
  return Math.max(1, events, estimateTokens(Math.max(0, chunk.length - events * EVENT_BYTES)))
}

function countBlankLines(chunk: Buffer): number {
  const text = chunk.toString('latin1')
  const blank = text.includes('\r') ? '\n\r\n' : '\n\n'
  let lines = 0
  for (let at = text.indexOf(blank); at >= 0; at = text.indexOf(blank, at + 2)) lines++
  return lines
}
