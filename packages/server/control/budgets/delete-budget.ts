import { removeBudget } from '../../storage/policies/budgets.ts'
import { defineOperation } from '../operation/operation.ts'
import { assertRemoved } from '../operation/or-not-found.ts'

export const deleteBudget = defineOperation('DELETE /v1/budgets/{id}', {
  name: 'budgets.delete',
  summary: 'Removes a budget.',
  access: { role: 'admin', of: 'budget' },
  handle: async ({ services, resource }) => {
    assertRemoved(await removeBudget(services.db, resource.id))
  },
})
