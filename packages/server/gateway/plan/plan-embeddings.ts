import type { EmbeddingFormat, EmbeddingRequest } from '@rideau/llm/embeddings/embedding-format'
import { findEmbeddingFormat, takesTokens } from '@rideau/llm/embeddings/find-embedding-format'
import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import type { MeterSet } from '../../core/list-meters.ts'
import type { Caller, Environment } from '../../core/tenancy.ts'
import type { Refusal } from '../../core/verdict.ts'
import type { CallPlan, ResolvedTarget } from './call-plan.ts'
import { checkLimits } from './check-limits.ts'
import type { PlanDeps } from './plan-deps.ts'
import { planTargets } from './plan-targets.ts'
import { toReservedAmounts } from './reserved-amounts.ts'

/** A model that may give the vectors. */
export interface EmbeddingTarget extends ResolvedTarget {
  readonly format: EmbeddingFormat
  /** A provider's errors are the same on all of its routes. */
  readonly decodeError: ClientFormat['decodeError']
}

export interface EmbeddingPlanInput {
  readonly request: EmbeddingRequest
  /** As we count them; a provider's own count decides what is paid. */
  readonly inputTokens: number
  readonly caller: Caller
  readonly environment: Environment
  readonly limits: MeterSet
}

/** From the parsed body to a plan, by the order of checks in contract.md §3. */
export function planEmbeddings(input: EmbeddingPlanInput, deps: PlanDeps): CallPlan<EmbeddingTarget> {
  const { request, caller, environment } = input
  const asked = { name: request.model, caller, environment, isStream: false }
  return planTargets<EmbeddingTarget>(asked, target => planOne(target, input, deps), deps)
}

function planOne(
  target: ResolvedTarget,
  input: EmbeddingPlanInput,
  deps: PlanDeps,
): EmbeddingTarget | { refusal: Refusal } {
  const { provider, catalogModel } = target
  const format = findEmbeddingFormat(provider)
  if (format === undefined || catalogModel?.capabilities.includes('embeddings') === false) {
    return toRefusal('embeddings_not_supported', 'The model has no embeddings API.', 'model')
  }
  const hasTokens = typeof input.request.input[0] !== 'string'
  if (hasTokens && !takesTokens(provider, format)) {
    return toRefusal('invalid_request', `input: the provider ${provider.id} takes texts only.`, 'input')
  }
  const limited = checkLimits(target, input.request.model, input.limits)
  if (limited !== undefined) return { refusal: limited }
  const bound = checkRequestCost(target, input)
  if (bound !== undefined) return { refusal: bound }
  return { ...target, format, decodeError: deps.formats.client(provider.format).decodeError }
}

/** The key's `max_request_cost_usd`: there is no output to lower, so it holds or refuses. */
function checkRequestCost(
  target: ResolvedTarget,
  { caller, inputTokens }: EmbeddingPlanInput,
): Refusal | undefined {
  const { maxRequestCostNanoUsd } = caller
  if (maxRequestCostNanoUsd === null) return undefined
  if ((target.catalogModel?.pricing ?? null) === null) {
    return {
      code: 'model_unpriced',
      message: "The key bounds a request's cost, and this model's price is unknown.",
      param: 'model',
    }
  }
  const { nanoUsd } = toReservedAmounts([target], { input: inputTokens, output: 0, mayWriteCache: false })
  if (nanoUsd <= maxRequestCostNanoUsd) return undefined
  return {
    code: 'budget_exceeded',
    message: 'This request could cost more than the key allows for one request.',
    param: 'restrictions.max_request_cost_usd',
  }
}

function toRefusal(code: Refusal['code'], message: string, param: string): { refusal: Refusal } {
  return { refusal: { code, message, param } }
}
