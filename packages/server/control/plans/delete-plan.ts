import { removePlan } from '../../storage/plans.ts'
import { defineOperation } from '../operation.ts'
import { z } from '../zod.ts'

export const deletePlan = defineOperation({
  name: 'plans.delete',
  summary: 'Removes a plan. End users on it fall back to the default plan.',
  method: 'DELETE',
  path: '/v1/plans/{id}',
  access: { role: 'developer', of: 'plan' },
  response: { 204: z.undefined() },
  handle: ({ services, resource }) => removePlan(services.db, resource.id),
})
