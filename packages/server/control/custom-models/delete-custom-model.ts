import { removeCustomModel } from '../../storage/custom-models.ts'
import { assertRole } from '../operation/assert-role.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'

export const deleteCustomModel = defineOperation({
  name: 'custom_models.delete',
  summary:
    "Removes an environment's record of a model, so that the catalogue applies again. A record with a price needs the role admin.",
  method: 'DELETE',
  path: '/v1/custom-models/{id}',
  access: { role: 'developer', of: 'custom_model' },
  response: { 204: z.undefined() },
  handle: async ({ services, resource, role }) => {
    // Removing the record changes the price that applies.
    if (resource.pricing !== null) assertRole(role, 'admin')
    await removeCustomModel(services.db, resource.id)
  },
})
