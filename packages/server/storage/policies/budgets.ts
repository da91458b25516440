import { hasLiveOwner } from '../live-owner.ts'
import { defineTable } from '../table.ts'

const budgets = defineTable('budgets', hasLiveOwner)

export const { insert: insertBudget, find: findBudget, update: updateBudget, remove: removeBudget } = budgets
export const { lock: lockBudget } = budgets

/** Budgets that belong to the organization itself, not to a project of it. */
export const listOrganizationBudgets = budgets.listBy('org_id', { project_id: null })

export const listProjectBudgets = budgets.listBy('project_id')
