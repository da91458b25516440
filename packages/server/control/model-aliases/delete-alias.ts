import { removeModelAlias } from '../../storage/models/model-aliases.ts'
import { defineOperation } from '../operation/operation.ts'

export const deleteAlias = defineOperation('DELETE /v1/model-aliases/{id}', {
  name: 'model_aliases.delete',
  summary: 'Removes a model alias.',
  access: { role: 'developer', of: 'model_alias' },
  handle: ({ services, resource }) => removeModelAlias(services.db, resource.id),
})
