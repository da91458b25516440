import { hasLiveProject } from './live-owner.ts'
import { defineTable } from './table.ts'

/** The constraint that makes a custom model's name unique in its environment. */
export const CUSTOM_MODEL_NAME_CONSTRAINT = 'custom_models_name'

const models = defineTable('custom_models', hasLiveProject)

export const { insert: insertCustomModel, find: findCustomModel } = models
export const { update: updateCustomModel, remove: removeCustomModel } = models
export const listCustomModels = models.listBy('environment_id')
