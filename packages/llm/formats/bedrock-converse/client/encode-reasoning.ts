import type { JsonObject } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { findReasoningDetails } from '../../shared/reasoning-carrier.ts'
import { isForced } from './encode-tools.ts'
import { findClaudeVersion, findFamily } from './model-family.ts'

/** Thinking tokens of models that are told a number of them; the least that they take is 1024. */
const BUDGETS: Readonly<Record<string, number>> = toTable({
  minimal: 1024,
  low: 4096,
  medium: 12_288,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
})
const MIN_BUDGET = 1024

/** `additionalModelRequestFields` that ask for an effort; undefined: nothing is asked, or the model takes none. */
export function encodeReasoning(request: ChatRequest, model: string): JsonObject | undefined {
  const effort = request.reasoningEffort
  if (effort === undefined) return undefined
  switch (findFamily(model)) {
    case 'claude':
      return encodeClaude(effort, request, findClaudeVersion(model))
    case 'gpt-oss':
      return { reasoning_effort: effort === 'none' || effort === 'minimal' ? 'low' : toThree(effort) }
    case 'nova-2':
      return effort === 'none'
        ? { reasoningConfig: { type: 'disabled' } }
        : {
            reasoningConfig: {
              type: 'enabled',
              maxReasoningEffort: effort === 'minimal' ? 'low' : toThree(effort),
            },
          }
    default:
      return undefined
  }
}

function toThree(effort: string): string {
  return effort === 'xhigh' || effort === 'max' ? 'high' : effort
}

function encodeClaude(effort: string, request: ChatRequest, version: number): JsonObject | undefined {
  if (version < 3.7) return undefined
  if (effort === 'none') return version >= 4.6 ? { thinking: { type: 'disabled' } } : undefined
  // A call that is forced and thinking exclude each other: the call is what the caller cannot do without.
  if (isForced(request)) return undefined
  if (version >= 4.6) {
    return {
      // From 4.7 on the text is left out unless it is asked for.
      thinking: { type: 'adaptive', ...(version >= 4.7 ? { display: 'summarized' } : {}) },
      output_config: { effort: toAdaptiveEffort(effort, version) },
    }
  }
  const room = request.maxOutputTokens ?? Number.POSITIVE_INFINITY
  // The output cap counts thinking too and has to leave room for an answer.
  if (room <= MIN_BUDGET || lacksThinking(request)) return undefined
  const budget = Math.min(BUDGETS[effort] ?? MIN_BUDGET, Math.max(MIN_BUDGET, Math.floor(room / 2)))
  return { thinking: { type: 'enabled', budget_tokens: budget } }
}

/**
 * Does the conversation stand amid calls whose thinking is not there, because another provider made them? With a budget
 * such a turn is refused, so this answer is made without thinking.
 */
function lacksThinking({ messages }: ChatRequest): boolean {
  if (messages.at(-1)?.role !== 'tool') return false
  const turn = messages.findLast(({ role }) => role === 'assistant')
  return turn === undefined || findReasoningDetails(turn, 'anthropic-claude-v1').length === 0
}

function toAdaptiveEffort(effort: string, version: number): string {
  if (effort === 'minimal') return 'low'
  return effort === 'xhigh' && version < 4.7 ? 'max' : effort
}

/** Does the model do something by this effort? `none` is no loss where a model does not reason by itself. */
export function canHonourEffort({ reasoningEffort }: ChatRequest, model: string): boolean {
  if (reasoningEffort === undefined || reasoningEffort === 'none') return true
  const family = findFamily(model)
  if (family === 'claude') return findClaudeVersion(model) >= 3.7
  return family === 'gpt-oss' || family === 'nova-2'
}
