import type { Json } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import type { FinishReason } from '../../../reply/chat-reply.ts'
import { countOrZero } from '../../../usage/token-count.ts'
import type { Usage } from '../../../usage/usage.ts'

/** What plain replies and streams have in common. */

const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['MAX_TOKENS', 'length'],
  ['ERROR_LIMIT', 'length'],
  ['ERROR_TOXIC', 'content_filter'],
])

/** The answer was not made, for a reason that is not the request's. */
const FAILURES: ReadonlySet<string> = new Set(['ERROR', 'TIMEOUT'])

/** `failed`: there is no answer. An unknown reason counts as a stop. */
export function readFinishReason(value: Json | undefined, hasToolCalls: boolean): FinishReason | 'failed' {
  const reason = typeof value === 'string' ? value : ''
  if (FAILURES.has(reason)) return 'failed'
  return FINISH_REASONS.get(reason) ?? (hasToolCalls ? 'tool_calls' : 'stop')
}

/**
 * Usage as it is billed: `tokens` counts the provider's own instructions around the prompt too, and `cached_tokens` is
 * a part of those, which are not billed. Reasoning is a part of the billed output.
 */
export function decodeUsage(value: Json | undefined): Usage | undefined {
  const usage = toObject(value)
  const counted = toObject(usage?.billed_units) ?? toObject(usage?.tokens)
  const uncachedInput = countOrZero(counted?.input_tokens)
  const output = countOrZero(counted?.output_tokens)
  if (uncachedInput + output === 0) return undefined
  const reasoning = Math.min(output, countOrZero(toObject(usage?.tokens)?.reasoning_tokens))
  return { uncachedInput, cacheRead: 0, cacheWrite: 0, output: output - reasoning, reasoning }
}
