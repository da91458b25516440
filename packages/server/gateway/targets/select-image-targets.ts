import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import type { Mount } from '@rideau/llm/formats/shared/reading/mount'
import { isHint } from '@rideau/llm/formats/shared/requests/hints'
import { findImageFormat } from '@rideau/llm/images/find-image-format'
import type { ImageFormat, ImageRequest } from '@rideau/llm/images/image-format'
import type { MeterSet } from '../../core/limits/list-meters.ts'
import { SET_A_PRICE } from '../../core/models/set-a-price.ts'
import type { Refusal } from '../../core/refusal.ts'
import type { Caller, Environment } from '../../core/tenancy/tenancy.ts'
import { maxImageAmounts, type PricedImageTarget } from '../billing/image-amounts.ts'
import { IMAGES } from './call-kinds.ts'
import { checkPriced } from './check-priced.ts'
import { selectTargets } from './select-targets.ts'
import type { SelectionDeps } from './selection-deps.ts'
import type { ResolvedTarget, TargetSelection } from './target-selection.ts'
import { toUnsupportedRefusal } from './unsupported-param.ts'

/** A target of an image request. */
export interface ImageTarget extends ResolvedTarget {
  readonly format: ImageFormat
  /** A provider reports errors in the same format on all of its routes. */
  readonly decodeError: ClientFormat['decodeError']
  /** Wire names of parameters that the target does not support and that are not sent. */
  readonly dropped: readonly string[]
}

export interface ImageSelectionInput {
  readonly request: ImageRequest
  readonly caller: Caller
  readonly environment: Environment
  readonly limits: MeterSet
  readonly mount: Mount
}

/**
 * Selects the targets of a parsed image request, with the checks in the order of ARCHITECTURE.md, "One request". Throws the
 * fault of the check that refuses it.
 */
export function selectImageTargets(
  input: ImageSelectionInput,
  deps: SelectionDeps,
): TargetSelection<ImageTarget> {
  const { request, caller, environment, limits, mount } = input
  const query = { name: request.model, caller, environment, limits, isStream: false, mount }
  return selectTargets<ImageTarget>(query, target => toVerdict(target, input, deps), deps)
}

function toVerdict(
  target: ResolvedTarget,
  input: ImageSelectionInput,
  deps: SelectionDeps,
): ImageTarget | { refusal: Refusal } {
  const { provider } = target
  const { request, environment } = input
  const format = findImageFormat(provider)
  if (format === undefined || !IMAGES.canServe(target)) {
    return toRefusal('model_missing_capability', `The model ${target.id} does not support images.`, 'model')
  }
  if (request.images !== undefined && !format.canEdit(target)) {
    return toRefusal(
      'model_missing_capability',
      `The model ${target.id} does not support image edits.`,
      'model',
    )
  }
  const isForeign = request.google !== undefined && provider.images?.format !== 'google-images'
  const dropped = isForeign ? (request.google?.only ?? []) : format.listUnsupportedParams(request, target)
  // Clients of Gemini's format send what steers sampling by default: it is left out and named, whatever the setting.
  const first = isForeign ? dropped.find(name => !isHint(name)) : dropped[0]
  if (first !== undefined && environment.unsupportedParams === 'refuse') {
    return { refusal: toUnsupportedRefusal(first, `the model ${target.id}`) }
  }
  const refusal = checkCost({ ...target, format }, target, input)
  if (refusal !== undefined) return { refusal }
  return { ...target, format, decodeError: deps.formats.client(provider.format).decodeError, dropped }
}

/**
 * Checks limits of money and the key's `max_request_cost_usd`. Nothing about an image request can be
 * lowered.
 */
function checkCost(
  priced: PricedImageTarget,
  target: ResolvedTarget,
  { request, caller, limits }: ImageSelectionInput,
): Refusal | undefined {
  const { nanoUsd } = maxImageAmounts(request, priced)
  const limited = checkPriced(target, limits, nanoUsd !== null)
  const { maxRequestCostNanoUsd } = caller
  if (limited !== undefined || maxRequestCostNanoUsd === null) return limited
  if (nanoUsd === null) {
    return {
      code: 'model_unpriced',
      message: `The key has a max_request_cost_usd, and the price of the model ${target.id} is unknown. ${SET_A_PRICE}`,
      param: 'model',
    }
  }
  if (nanoUsd <= maxRequestCostNanoUsd) return undefined
  return {
    code: 'budget_exceeded',
    message: 'This request could cost more than the max_request_cost_usd of the key.',
    param: 'restrictions.max_request_cost_usd',
  }
}

function toRefusal(code: Refusal['code'], message: string, param: string): { refusal: Refusal } {
  return { refusal: { code, message, param } }
}
