import { insertBudget } from '../../storage/policies/budgets.ts'
import { newRecord } from '../operation/new-record.ts'
import { defineOperation } from '../operation/operation.ts'
import { NewBudget, parseBudgetScope, toBudgetSettings } from './budget-body.ts'
import { BudgetResource, completeBudget, toBudgetResource } from './budget-resource.ts'
import { measureBudget } from './measure-budgets.ts'

export const createOrganizationBudget = defineOperation('POST /v1/orgs/{orgId}/budgets', {
  name: 'budgets.create_in_organization',
  summary:
    "Creates a budget for an organization, one of its environments or one of its keys. The organization's own spend excludes the sandbox.",
  access: { role: 'admin', of: 'org' },
  body: NewBudget,
  response: { 201: BudgetResource },
  handle: async ({ services, resource, body }) => {
    const owner = { org_id: resource.id, project_id: null }
    const settings = await parseBudgetScope(services.db, owner, toBudgetSettings(body))
    const row = await insertBudget(services.db, { ...newRecord(services), ...owner, ...settings })
    return toBudgetResource(await measureBudget(services, row))
  },
  complete: completeBudget,
})
