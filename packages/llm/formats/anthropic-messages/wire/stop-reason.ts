import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toText } from '../../../json/json-value.ts'
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

/**
 * Returns the finish reason; undefined: the message has not stopped. An unknown reason is `stop`. Whether a call was made
 * decides between `stop` and `tool_calls`, because some servers send the wrong one of these.
 */
export function toFinishReason(value: Json | undefined, hasToolCalls: boolean): FinishReason | undefined {
  if (typeof value !== 'string') return undefined
  const reason = FINISH_REASONS.get(value) ?? 'stop'
  if (reason === 'stop' && hasToolCalls) return 'tool_calls'
  return reason === 'tool_calls' && !hasToolCalls ? 'stop' : reason
}

const STOP_SEQUENCE = 'stop_sequence'

/** Returns the stop sequence that ended a message, or what a `message_delta` says of it; undefined: none did. */
export function findStopSequence({ stop_reason, stop_sequence }: JsonObject): string | undefined {
  return stop_reason === STOP_SEQUENCE ? (toText(stop_sequence) ?? '') : undefined
}

/** Returns the two fields that say why a message ended. `sequence`: see ReplyChoice.stopSequence. */
export function encodeStop(reason: FinishReason, sequence: string | undefined): JsonObject {
  const isBySequence = reason === 'stop' && sequence !== undefined
  return {
    stop_reason: isBySequence ? STOP_SEQUENCE : STOP_REASONS[reason],
    stop_sequence: isBySequence && sequence !== '' ? sequence : null,
  }
}

const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
}
