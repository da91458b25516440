import { hasLiveProject } from '../live-owner.ts'
import { defineTable } from '../table.ts'

/** The constraint that makes an alias unique in its environment. */
export const MODEL_ALIAS_NAME_CONSTRAINT = 'model_aliases_name'

const aliases = defineTable('model_aliases', hasLiveProject)

export const { insert: insertModelAlias, find: findModelAlias } = aliases
export const { update: updateModelAlias, remove: removeModelAlias } = aliases
export const listModelAliases = aliases.listBy('environment_id')
