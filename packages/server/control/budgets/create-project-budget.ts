import { insertBudget } from '../../storage/policies/budgets.ts'
import { newRecord } from '../operation/new-record.ts'
import { defineOperation } from '../operation/operation.ts'
import { NewBudget, parseBudgetScope, toBudgetSettings } from './budget-body.ts'
import { BudgetResource, completeBudget, toBudgetResource } from './budget-resource.ts'
import { measureBudget } from './measure-budgets.ts'

export const createProjectBudget = defineOperation('POST /v1/projects/{projectId}/budgets', {
  name: 'budgets.create',
  summary: 'Creates a budget for a project, one of its environments or one of its keys. The sandbox counts.',
  access: { role: 'admin', of: 'project' },
  body: NewBudget,
  response: { 201: BudgetResource },
  handle: async ({ services, resource, body }) => {
    const owner = { org_id: resource.org_id, project_id: resource.id }
    const settings = await parseBudgetScope(services.db, owner, toBudgetSettings(body))
    const row = await insertBudget(services.db, { ...newRecord(services), ...owner, ...settings })
    return toBudgetResource(await measureBudget(services, row))
  },
  complete: completeBudget,
})
