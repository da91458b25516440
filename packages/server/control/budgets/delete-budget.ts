import { removeBudget } from '../../storage/budgets.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'

export const deleteBudget = defineOperation({
  name: 'budgets.delete',
  summary: 'Removes a budget.',
  method: 'DELETE',
  path: '/v1/budgets/{id}',
  access: { role: 'admin', of: 'budget' },
  response: { 204: z.undefined() },
  handle: ({ services, resource }) => removeBudget(services.db, resource.id),
})
