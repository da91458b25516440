import { removeModelAlias } from '../../storage/models/model-aliases.ts'
import { defineOperation } from '../operation/operation.ts'
import { assertRemoved } from '../operation/or-not-found.ts'

export const deleteAlias = defineOperation('DELETE /v1/model-aliases/{id}', {
  name: 'model_aliases.delete',
  summary: 'Removes a model alias.',
  access: { role: 'developer', of: 'model_alias' },
  handle: async ({ services, resource }) => {
    assertRemoved(await removeModelAlias(services.db, resource.id))
  },
})
