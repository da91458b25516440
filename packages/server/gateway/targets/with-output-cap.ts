import type { SourceBody } from '@rideau/llm/request/source-body'
import type { ChatTarget } from './chat-selection.ts'

/**
 * Returns a target with a lower output cap. A cap may leave too few tokens to reason in, so the effort or a budget to
 * think may be left out, and what is left out is named anew.
 */
export function withOutputCap(target: ChatTarget, maxOutputTokens: number, source: SourceBody): ChatTarget {
  const { format, provider, model, request, dropped } = target
  const capped = { ...request, maxOutputTokens }
  const mayReason =
    request.reasoningEffort !== undefined ||
    request.extra?.has('thinking') === true ||
    request.providerOptions?.[provider.id] !== undefined
  if (!mayReason) return { ...target, request: capped }
  // A body may have thousands of parts that the target does not know, each with a name here.
  const before = new Set(format.listUnsupportedParams(request, provider, model, source))
  const after = new Set(format.listUnsupportedParams(capped, provider, model, source))
  const gone = [...before].filter(name => !after.has(name))
  const kept = gone.length === 0 ? dropped : dropped.filter(name => !gone.includes(name))
  const added = [...after].filter(name => !before.has(name))
  return { ...target, request: capped, dropped: [...kept, ...added] }
}
