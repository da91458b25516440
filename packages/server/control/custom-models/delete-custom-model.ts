import { lockCustomModel, removeCustomModel } from '../../storage/models/custom-models.ts'
import { assertRole } from '../operation/assert-role.ts'
import { defineOperation } from '../operation/operation.ts'
import { assertRemoved } from '../operation/or-not-found.ts'
import { decidesPrice } from './custom-model-body.ts'

export const deleteCustomModel = defineOperation('DELETE /v1/custom-models/{id}', {
  name: 'custom_models.delete',
  summary:
    "Removes an environment's record of a model, so that the catalogue applies again. A record with a price, or of a model with a price in the catalogue, needs the role admin.",
  access: { role: 'developer', of: 'custom_model' },
  handle: async ({ services, resource, role }) => {
    // Locks the row: an administrator may set a price at this moment.
    const stored = await lockCustomModel(services.db, resource.id)
    if (stored !== undefined && decidesPrice(stored)) assertRole(role, 'admin')
    assertRemoved(await removeCustomModel(services.db, resource.id))
  },
})
