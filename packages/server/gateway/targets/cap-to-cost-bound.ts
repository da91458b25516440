import type { ParsedChat } from '@rideau/llm/formats/shared/requests/parsed-chat'
import type { SourceBody } from '@rideau/llm/request/source-body'
import { checkCostBound } from '../../core/models/cost-bound.ts'
import type { Random } from '../../core/random.ts'
import type { Rights } from '../../core/tenancy/tenancy.ts'
import { countPricedAudio } from '../billing/heard-tokens.ts'
import { countLargeImages } from '../billing/image-tokens.ts'
import { countRequest } from '../billing/input-counts.ts'
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
  parsed: ParsedChat,
  source: SourceBody,
  random: Random,
): ChatTargetVerdict {
  if (rights.maxRequestCostNanoUsd === null || 'refusal' in target) return target
  const { request, catalogModel, format } = target
  // Without a field that caps the output, the bound must buy all that the model gives.
  const fixed = format.hasNoOutputCap === true ? (catalogModel?.max_output_tokens ?? undefined) : undefined
  const { likely, unread, packed, audio, images } = countRequest(parsed.request, source, random)
  const { choices, asksForCaching } = parsed.findings
  const verdict = checkCostBound(rights.maxRequestCostNanoUsd, {
    pricing: catalogModel?.pricing ?? null,
    inputTokens: toLikelyInput(likely, unread + packed + countLargeImages(images, target), [target]),
    audioTokens: countPricedAudio(audio, [target]),
    maxOutputTokens: fixed ?? request.maxOutputTokens,
    modelMaxOutputTokens: catalogModel?.max_output_tokens ?? catalogModel?.context_window ?? null,
    keepsMaximum: keepsMaximum(target, likely),
    asksForCaching,
    choices,
  })
  if ('refusal' in verdict) return verdict
  return verdict.outputCap === undefined ? target : withOutputCap(target, verdict.outputCap, source)
}
