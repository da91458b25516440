import { listProjectBudgets as loadBudgets } from '../../storage/policies/budgets.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { BudgetResource, toBudgetResource } from './budget-resource.ts'
import { measureBudgets } from './measure-budgets.ts'

export const listProjectBudgets = defineOperation('GET /v1/projects/{projectId}/budgets', {
  name: 'budgets.list',
  summary: "A project's budgets, newest first, with the spend of each.",
  access: { role: 'viewer', of: 'project' },
  query: z.strictObject(pageQuery),
  response: { 200: listOf(BudgetResource) },
  handle: ({ services, resource, query }) =>
    loadPage(
      query,
      ['budgets.list', resource.id],
      async page =>
        measureBudgets(services, resource.org_id, await loadBudgets(services.db, resource.id, page)),
      toBudgetResource,
    ),
})
