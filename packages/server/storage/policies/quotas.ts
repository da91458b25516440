import { hasLiveProject } from '../live-owner.ts'
import { defineTable } from '../table.ts'

const quotas = defineTable('quotas', hasLiveProject)

export const { insert: insertQuota, find: findQuota, update: updateQuota, remove: removeQuota } = quotas
export const { lock: lockQuota } = quotas

export const listQuotas = quotas.listBy('environment_id')
