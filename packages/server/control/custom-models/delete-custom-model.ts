import { removeCustomModel } from '../../storage/custom-models.ts'
import { assertRole } from '../operation/assert-role.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'

export const deleteCustomModel = defineOperation({
  name: 'custom_models.delete',
  summary:
    'Removes what an environment says of a model: the catalogue counts again. Of a priced one it needs the role admin.',
  method: 'DELETE',
  path: '/v1/custom-models/{id}',
  access: { role: 'developer', of: 'custom_model' },
  response: { 204: z.undefined() },
  handle: async ({ services, resource, role }) => {
    // Without it another price applies.
    if (resource.pricing !== null) assertRole(role, 'admin')
    await removeCustomModel(services.db, resource.id)
  },
})
