import type { Json } from '../../../json/json-value.ts'
import type { FinishReason } from '../../../reply/chat-reply.ts'

const FINISH_REASONS: ReadonlyMap<Json | undefined, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['compaction', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

/** undefined: the message has not stopped. A reason that nobody knows is a stop; content decides about tools. */
export function readStopReason(value: Json | undefined, hasToolCalls: boolean): FinishReason | undefined {
  if (typeof value !== 'string') return undefined
  const reason = FINISH_REASONS.get(value) ?? 'stop'
  if (reason === 'stop' && hasToolCalls) return 'tool_calls'
  return reason === 'tool_calls' && !hasToolCalls ? 'stop' : reason
}

/** The same the other way, for callers of this format. */
export function toStopReason(reason: FinishReason): string {
  return STOP_REASONS[reason]
}

const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
}
