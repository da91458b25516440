import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toText } from '../../../json/json-value.ts'
import type { FinishReason } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import { FOREIGN_SIGNATURE } from '../../shared/foreign-thinking.ts'

/** What plain replies and streams have in common. */

const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['guardrail_intervened', 'content_filter'],
  ['content_filtered', 'content_filter'],
])

/** The model's words could not be read as an answer: nothing is wrong with the request, another try may do. */
const BROKEN: ReadonlySet<string> = new Set(['malformed_model_output', 'malformed_tool_use'])

/** `broken`: there is no answer. A reason that nobody knows is a stop. */
export function readStopReason(value: Json | undefined, hasToolCalls: boolean): FinishReason | 'broken' {
  const reason = typeof value === 'string' ? value : ''
  if (BROKEN.has(reason)) return 'broken'
  return FINISH_REASONS.get(reason) ?? (hasToolCalls ? 'tool_calls' : 'stop')
}

/** Tools that the provider runs itself are no calls of the caller's. */
export function isCallersTool(toolUse: JsonObject): boolean {
  return toolUse.type !== 'server_tool_use'
}

/**
 * Reasoning that has to come back in the next turn. Only Anthropic's models sign theirs; what comes without a signature
 * is for reading. The encrypted form is Anthropic's own text, which Converse wraps in base64 once more.
 */
export function toReasoningDetail(reasoning: {
  text: string
  signature: string
  redacted: Buffer
}): ReasoningDetail | undefined {
  const format = 'anthropic-claude-v1'
  if (reasoning.redacted.length > 0) {
    return { type: 'reasoning.encrypted', format, data: reasoning.redacted.toString('utf8') }
  }
  // Nobody signed it, or another gateway of ours marked what somebody else thought.
  if (reasoning.signature === '' || reasoning.signature === FOREIGN_SIGNATURE) return undefined
  return { type: 'reasoning.text', format, text: reasoning.text, signature: reasoning.signature }
}

export function readRedacted(value: Json | undefined): Buffer {
  return Buffer.from(toText(value) ?? '', 'base64')
}
