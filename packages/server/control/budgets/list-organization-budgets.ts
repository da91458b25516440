import { listOrganizationBudgets as loadBudgets } from '../../storage/policies/budgets.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { BudgetResource, toBudgetResource } from './budget-resource.ts'
import { measureBudgets } from './measure-budgets.ts'

export const listOrganizationBudgets = defineOperation('GET /v1/orgs/{orgId}/budgets', {
  name: 'budgets.list_of_organization',
  summary: "The organization's own budgets, newest first, with the spend of each.",
  access: { role: 'viewer', of: 'org' },
  query: z.strictObject(pageQuery),
  response: { 200: listOf(BudgetResource) },
  handle: ({ services, resource, query }) =>
    loadPage(
      query,
      ['budgets.list_of_organization', resource.id],
      async page => measureBudgets(services, resource.id, await loadBudgets(services.db, resource.id, page)),
      toBudgetResource,
    ),
})
