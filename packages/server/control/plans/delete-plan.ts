import { removePlan } from '../../storage/policies/plans.ts'
import { defineOperation } from '../operation/operation.ts'
import { assertRemoved } from '../operation/or-not-found.ts'

export const deletePlan = defineOperation('DELETE /v1/plans/{id}', {
  name: 'plans.delete',
  summary: 'Removes a plan. End users on it fall back to the default plan at once.',
  access: { role: 'developer', of: 'plan' },
  handle: async ({ services, resource }) => {
    assertRemoved(await removePlan(services.db, resource.id, new Date(services.clock.now())))
  },
})
