import { removeCustomModel } from '../../storage/custom-models.ts'
import { assertRole } from '../operation/assert-role.ts'
import { defineOperation } from '../operation/operation.ts'

export const deleteCustomModel = defineOperation('DELETE /v1/custom-models/{id}', {
  name: 'custom_models.delete',
  summary:
    "Removes an environment's record of a model, so that the catalogue applies again. A record with a price needs the role admin.",
  access: { role: 'developer', of: 'custom_model' },
  handle: async ({ services, resource, role }) => {
    // Removing the record changes the price that applies.
    if (resource.pricing !== null) assertRole(role, 'admin')
    await removeCustomModel(services.db, resource.id)
  },
})
