import type { SourceBody } from '@rideau/llm/request/source-body'
import type { PlannedTarget } from './chat-plan.ts'

/**
 * Returns a planned target with a lower output cap. A cap may leave too few tokens to reason in, so the effort or Claude's
 * `thinking` may be left out, and what is left out is named anew.
 */
export function withOutputCap(
  target: PlannedTarget,
  maxOutputTokens: number,
  source: SourceBody,
): PlannedTarget {
  const { format, provider, model, request, dropped } = target
  const capped = { ...request, maxOutputTokens }
  const asksToReason = request.reasoningEffort !== undefined || request.extra?.has('thinking') === true
  if (!asksToReason) return { ...target, request: capped }
  const before = format.findUnsupportedParams(request, provider, model, source)
  const after = format.findUnsupportedParams(capped, provider, model, source)
  const kept = dropped.filter(name => after.includes(name) || !before.includes(name))
  const added = after.filter(name => !before.includes(name))
  return { ...target, request: capped, dropped: [...kept, ...added] }
}
