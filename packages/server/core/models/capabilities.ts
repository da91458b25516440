import type { Capability, CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { Refusal } from '../refusal.ts'

/** A capability that a request needs, and the field that needs it. */
export interface CapabilityNeed {
  readonly capability: Capability
  readonly param: string
}

/**
 * Refuses a model that lacks one of `needs`. A model known by name only (undefined) is assumed to have every
 * capability.
 */
export function checkCapabilities(
  needs: readonly CapabilityNeed[],
  model: CatalogModel | undefined,
): Refusal | undefined {
  if (model === undefined) return undefined
  for (const { capability, param } of needs) {
    if (model.capabilities.includes(capability)) continue
    return {
      code: 'model_missing_capability',
      message: `The model lacks the capability ${capability}.`,
      param,
    }
  }
  return undefined
}
