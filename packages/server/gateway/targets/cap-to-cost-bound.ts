import type { ParsedChat } from '@rideau/llm/formats/shared/requests/parsed-chat'
import type { SourceBody } from '@rideau/llm/request/source-body'
import { checkCostBound } from '../../core/models/cost-bound.ts'
import type { Rights } from '../../core/tenancy/tenancy.ts'
import { countInput } from '../billing/count-input.ts'
import { countUnread } from '../billing/count-unread.ts'
import { countPricedAudio } from '../billing/heard-tokens.ts'
import { countLargeImages } from '../billing/image-tokens.ts'
import { countPackedFiles } from '../billing/packed-files.ts'
import { keepsMaximum, toLikelyInput } from './chat-amounts.ts'
import type { ChatTargetVerdict } from './chat-selection.ts'
import { withOutputCap } from './with-output-cap.ts'

/**
 * Applies the caller's `max_request_cost_usd` to a target: lowers its output cap, or returns a refusal if no
 * cap keeps the request within the bound.
 */
export function capToCostBound(
  target: ChatTargetVerdict,
  rights: Rights,
  { findings: { choices, asksForCaching } }: ParsedChat,
  source: SourceBody,
): ChatTargetVerdict {
  if (rights.maxRequestCostNanoUsd === null || 'refusal' in target) return target
  const { request, catalogModel, format } = target
  // Without a field that caps the output, the bound must buy all that the model gives.
  const fixed = format.hasNoOutputCap === true ? (catalogModel?.max_output_tokens ?? undefined) : undefined
  const unread =
    countUnread(request, source.value) + countLargeImages(request, target) + countPackedFiles(request)
  const counted = countInput(request)
  const verdict = checkCostBound(rights.maxRequestCostNanoUsd, {
    pricing: catalogModel?.pricing ?? null,
    inputTokens: toLikelyInput(counted, unread, [target]),
    audioTokens: countPricedAudio(request, [target]),
    maxOutputTokens: fixed ?? request.maxOutputTokens,
    modelMaxOutputTokens: catalogModel?.max_output_tokens ?? catalogModel?.context_window ?? null,
    keepsMaximum: keepsMaximum(target, counted),
    asksForCaching,
    choices,
  })
  if ('refusal' in verdict) return verdict
  return verdict.outputCap === undefined ? target : withOutputCap(target, verdict.outputCap, source)
}
