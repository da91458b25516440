import { hasLiveOwner } from '../live-owner.ts'
import { defineTable } from '../table.ts'

const limits = defineTable('limits', hasLiveOwner)

export const { insert: insertLimit, find: findLimit, update: updateLimit, remove: removeLimit } = limits
export const { lock: lockLimit } = limits

/** Limits that belong to the organization itself, not to an environment of it. */
export const listOrganizationLimits = limits.listBy('org_id', { environment_id: null })

export const listEnvironmentLimits = limits.listBy('environment_id')
