import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toText } from '../../../json/json-value.ts'
import type { FinishReason } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import { FORMAT } from '../../shared/claude/claude-thinking.ts'
import { FOREIGN_SIGNATURE } from '../../shared/reasoning/foreign-thinking.ts'

/** Stop reasons and reasoning, in plain replies and streams. */

const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['guardrail_intervened', 'content_filter'],
  ['content_filtered', 'content_filter'],
])

/** Bedrock could not parse the model's output. The request is right, so another attempt may succeed. */
const BROKEN: ReadonlySet<string> = new Set(['malformed_model_output', 'malformed_tool_use'])

/** Returns the finish reason; `broken`: there is no answer. An unknown reason is `stop`, or `tool_calls` after a call. */
export function toFinishReason(value: Json | undefined, hasToolCalls: boolean): FinishReason | 'broken' {
  const reason = typeof value === 'string' ? value : ''
  if (BROKEN.has(reason)) return 'broken'
  return FINISH_REASONS.get(reason) ?? (hasToolCalls ? 'tool_calls' : 'stop')
}

/** Present where a stop sequence ended the answer. Converse does not name it. */
export function toStopSequence(stopReason: Json | undefined): { readonly stopSequence?: string } {
  return stopReason === 'stop_sequence' ? { stopSequence: '' } : {}
}

/** False for a call of a tool that the provider runs itself. */
export function isCallersTool(toolUse: JsonObject): boolean {
  return toolUse.type !== 'server_tool_use'
}

/**
 * Returns reasoning in the form that must come back with the next request; undefined: it has no signature, so it need not.
 * Only Claude signs its reasoning. Its encrypted form is Claude's own text, which Converse encodes in base64 once more. `index`:
 * of the block in its message.
 */
export function toReasoningDetail(reasoning: {
  text: string
  signature: string
  redacted: Buffer
  index: number
}): ReasoningDetail | undefined {
  const { text, signature, redacted, index } = reasoning
  if (redacted.length > 0) {
    return { type: 'reasoning.encrypted', format: FORMAT, data: redacted.toString('utf8'), index }
  }
  // The second is the gateway's mark: the provider is another Rideau gateway, and another model made the reasoning.
  if (signature === '' || signature === FOREIGN_SIGNATURE) return undefined
  return { type: 'reasoning.text', format: FORMAT, text, signature, index }
}

export function decodeRedacted(value: Json | undefined): Buffer {
  return Buffer.from(toText(value) ?? '', 'base64')
}
