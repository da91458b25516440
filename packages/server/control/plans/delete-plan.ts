import { removePlan } from '../../storage/plans.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'

export const deletePlan = defineOperation({
  name: 'plans.delete',
  summary: 'Removes a plan. End users on it fall back to the default plan.',
  method: 'DELETE',
  path: '/v1/plans/{id}',
  access: { role: 'developer', of: 'plan' },
  response: { 204: z.undefined() },
  handle: ({ services, resource }) => removePlan(services.db, resource.id),
})
