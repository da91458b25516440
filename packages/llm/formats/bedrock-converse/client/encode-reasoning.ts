import type { JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { alwaysThinks } from '../../shared/claude/claude-limits.ts'
import { lacksThinking } from '../../shared/reasoning/lacks-thinking.ts'
import { isForced } from './encode-tools.ts'
import { toClaudeVersion, toModelFamily } from './model-family.ts'

/** Budgets in tokens, for models that take one. */
const BUDGETS: Readonly<Record<string, number>> = toTable({
  minimal: 1024,
  low: 4096,
  medium: 12_288,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
})
/** The smallest budget that these models take, in tokens. */
const MIN_BUDGET = 1024
/** Since this version Claude thinks beside a forced call on Bedrock. Source: docs/providers.md, "Bedrock Converse". */
const THINKS_BESIDE_FORCED_CALL = 4.8

/** Returns the `additionalModelRequestFields` for an effort; undefined: the request asks for none, or the model takes none. */
export function encodeReasoning(request: ChatRequest, model: string): JsonObject | undefined {
  const effort = request.reasoningEffort
  if (effort === undefined) return undefined
  switch (toModelFamily(model)) {
    case 'claude':
      return encodeClaude(effort, request, model)
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

/** True if Claude is asked to think. It then refuses sampling. */
export function asksToThink(request: ChatRequest, model: string): boolean {
  const kind = toObject(encodeReasoning(request, model)?.thinking)?.type
  return kind !== undefined && kind !== 'disabled'
}

function toThree(effort: string): string {
  return effort === 'xhigh' || effort === 'max' ? 'high' : effort
}

function encodeClaude(effort: string, request: ChatRequest, model: string): JsonObject | undefined {
  const version = toClaudeVersion(model)
  if (version < 3.7) return undefined
  if (effort === 'none') return encodeNone(model, version)
  // A forced call and thinking exclude each other, and the caller relies on the call.
  if (isForced(request) && version < THINKS_BESIDE_FORCED_CALL) return undefined
  if (version >= 4.6) {
    return {
      // Claude 4.7 and newer leave out the text of thinking by default.
      thinking: { type: 'adaptive', ...(version >= 4.7 ? { display: 'summarized' } : {}) },
      output_config: { effort: toAdaptiveEffort(effort, version) },
    }
  }
  const room = request.maxOutputTokens ?? Number.POSITIVE_INFINITY
  // The output cap includes thinking, so there must be room for an answer beside it.
  if (room <= MIN_BUDGET || lacksThinking(request)) return undefined
  const budget = Math.min(BUDGETS[effort] ?? MIN_BUDGET, Math.max(MIN_BUDGET, Math.floor(room / 2)))
  return { thinking: { type: 'enabled', budget_tokens: budget } }
}

/** undefined: the model does not think unasked. One that cannot be kept from thinking is asked for the least of it. */
function encodeNone(model: string, version: number): JsonObject | undefined {
  if (alwaysThinks(model)) return { output_config: { effort: 'low' } }
  return version >= 5 ? { thinking: { type: 'disabled' } } : undefined
}

function toAdaptiveEffort(effort: string, version: number): string {
  if (effort === 'minimal') return 'low'
  return effort === 'xhigh' && version < 4.7 ? 'max' : effort
}

/** True if the request's effort is sent, or is `none`, which changes nothing for a model that does not reason. */
export function canHonourEffort(request: ChatRequest, model: string): boolean {
  const { reasoningEffort: effort } = request
  return effort === undefined || effort === 'none' || encodeReasoning(request, model) !== undefined
}
