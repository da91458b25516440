import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import { findImageFormat } from '@rideau/llm/images/find-image-format'
import type { ImageFormat, ImageRequest } from '@rideau/llm/images/image-format'
import type { MeterSet } from '../../core/list-meters.ts'
import type { Caller, Environment } from '../../core/tenancy.ts'
import type { Refusal } from '../../core/verdict.ts'
import { type ImagePriced, mostOf } from '../billing/image-amounts.ts'
import type { CallPlan, ResolvedTarget } from './call-plan.ts'
import { refuseByLimits } from './hold-to-limits.ts'
import type { PlanDeps } from './plan-deps.ts'
import { planTargets } from './plan-targets.ts'

/** A model that may make the images. */
export interface ImageTarget extends ResolvedTarget {
  readonly format: ImageFormat
  /** A provider's errors are the same on all of its routes. */
  readonly decodeError: ClientFormat['decodeError']
  /** Wire names of parameters that it cannot honour and that are not sent. */
  readonly dropped: readonly string[]
}

export interface ImageAsk {
  readonly request: ImageRequest
  readonly caller: Caller
  readonly environment: Environment
  readonly limits: MeterSet
}

/** From the parsed body to a plan, by the order of checks in contract.md §3. */
export function planImages(ask: ImageAsk, deps: PlanDeps): CallPlan<ImageTarget> {
  const { request, caller, environment } = ask
  const asked = { name: request.model, caller, environment, isStream: false }
  return planTargets<ImageTarget>(asked, target => planOne(target, ask, deps), deps)
}

function planOne(target: ResolvedTarget, ask: ImageAsk, deps: PlanDeps): ImageTarget | { refusal: Refusal } {
  const { provider, catalogModel } = target
  const { request, environment } = ask
  const format = findImageFormat(provider)
  if (format === undefined || catalogModel?.capabilities.includes('images') === false) {
    return refuse('model_missing_capability', 'The model makes no images.', 'model')
  }
  if (request.images !== undefined && !format.canEdit(target)) {
    return refuse('model_missing_capability', 'The model edits no images.', 'model')
  }
  const dropped = format.findUnsupportedParams(request, target)
  const [first] = dropped
  if (first !== undefined && environment.unsupportedParams === 'refuse') {
    return refuse('invalid_request', `${first}: the model ${target.id} has no way to honour it.`, first)
  }
  const refusal = refuseByMoney({ ...target, format }, target, ask)
  if (refusal !== undefined) return { refusal }
  return { ...target, format, decodeError: deps.formats.client(provider.format).decodeError, dropped }
}

/** The plan's models and limits of money, and the key's `max_request_cost_usd`: nothing can be lowered, so it holds or refuses. */
function refuseByMoney(
  priced: ImagePriced,
  target: ResolvedTarget,
  { request, caller, limits }: ImageAsk,
): Refusal | undefined {
  const { nanoUsd } = mostOf(request, priced)
  const limited = refuseByLimits(target, request.model, limits, nanoUsd !== null)
  const { maxRequestCostNanoUsd } = caller
  if (limited !== undefined || maxRequestCostNanoUsd === null) return limited
  if (nanoUsd === null) {
    return {
      code: 'model_unpriced',
      message: "The key bounds a request's cost, and this model's price is unknown.",
      param: 'model',
    }
  }
  if (nanoUsd <= maxRequestCostNanoUsd) return undefined
  return {
    code: 'budget_exceeded',
    message: 'This request could cost more than the key allows for one request.',
    param: 'restrictions.max_request_cost_usd',
  }
}

function refuse(code: Refusal['code'], message: string, param: string): { refusal: Refusal } {
  return { refusal: { code, message, param } }
}
