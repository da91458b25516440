import type { ModelPricing } from '@rideau/llm/provider/prices'
import { hasLiveProject } from '../live-owner.ts'
import type { Db } from '../pool.ts'
import { toCustomModel } from '../snapshots/model-snapshots.ts'
import { defineTable } from '../table.ts'

/** The constraint that makes a custom model's name unique in its environment. */
export const CUSTOM_MODEL_NAME_CONSTRAINT = 'custom_models_name'

const models = defineTable('custom_models', hasLiveProject)

export const { insert: insertCustomModel, find: findCustomModel } = models
export const { update: updateCustomModel, remove: removeCustomModel, lock: lockCustomModel } = models
export const listCustomModels = models.listBy('environment_id')

/** The prices of the environment's own model `provider/model`; undefined if it has no such model or the model no price. */
export async function findCustomPricing(
  db: Db,
  environmentId: string,
  model: string,
): Promise<ModelPricing | undefined> {
  const row = await models.findMatch(db, { environment_id: environmentId, model })
  return row === undefined ? undefined : (toCustomModel(row).pricing ?? undefined)
}
