import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { FaultCode } from '../fault-table.ts'
import type { Alias } from '../tenancy/tenancy.ts'
import { type CapabilityNeed, checkCapabilities } from './capabilities.ts'
import { orderTargets } from './order-targets.ts'
import {
  type ModelDirectory,
  type ModelEnvironment,
  type ModelSource,
  resolveTarget,
} from './resolve-model.ts'

/** States whether one target of an alias could serve a request. */
export interface ExplainedTarget {
  /** The model's name in the alias. */
  readonly model: string
  /** `provider/model`; null: the model is unknown. */
  readonly id: string | null
  readonly isUsable: boolean
  /** null: the target is usable. */
  readonly code: FaultCode | null
  readonly message: string
  /** The share of first attempts that its weight gives it, from 0 to 1; null: the strategy does not use weights. */
  readonly share: number | null
}

export interface ExplainedAlias {
  /** The target of the first attempt: of `weighted` the likeliest, of `lowest_latency` the first without a measurement. */
  readonly serves: string | null
  readonly targets: readonly ExplainedTarget[]
}

const USABLE = 'It can serve the request.'
const SENT_UNKNOWN = 'Nothing here knows this model: its provider decides, and its price is unknown.'

/** Returns for each target of an alias whether it could serve a request with these needs, and the reason if not. */
export function explainAlias(
  alias: Alias,
  needs: readonly CapabilityNeed[],
  environment: ModelEnvironment<ModelSource>,
  directory: ModelDirectory,
  findModel: (providerId: string, modelId: string) => CatalogModel | undefined,
): ExplainedAlias {
  const judged = alias.targets.map(target => {
    const weight = target.weight ?? 1
    const resolution = resolveTarget(target.model, environment, directory)
    if ('refusal' in resolution)
      return { target, weight, id: null, model: undefined, isKnown: false, refusal: resolution.refusal }
    const { provider, model: name, id, isKnown } = resolution.resolved
    const model = environment.customModels.get(id) ?? findModel(provider, name)
    return { target, weight, id, model, isKnown, refusal: checkCapabilities(needs, model) }
  })
  const usable = judged.flatMap(({ id, weight, model, refusal }) =>
    id === null || refusal !== undefined
      ? []
      : [{ id, weight, pricing: model?.pricing ?? null, latencyMs: undefined }],
  )
  const total = usable.reduce((sum, { weight }) => sum + weight, 0)
  const first =
    alias.strategy === 'weighted'
      ? usable.toSorted((a, b) => b.weight - a.weight)[0]
      : orderTargets(alias.strategy, usable, 0)[0]
  return {
    serves: first?.id ?? null,
    targets: judged.map(({ target, id, weight, isKnown, refusal }) => ({
      model: target.model,
      id,
      isUsable: refusal === undefined,
      code: refusal?.code ?? null,
      message: refusal?.message ?? (isKnown ? USABLE : SENT_UNKNOWN),
      share: alias.strategy !== 'weighted' || refusal !== undefined || total === 0 ? null : weight / total,
    })),
  }
}
