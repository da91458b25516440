import { removeModelAlias } from '../../storage/model-aliases.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'

export const deleteAlias = defineOperation({
  name: 'model_aliases.delete',
  summary: 'Removes a model alias.',
  method: 'DELETE',
  path: '/v1/model-aliases/{id}',
  access: { role: 'developer', of: 'model_alias' },
  response: { 204: z.undefined() },
  handle: ({ services, resource }) => removeModelAlias(services.db, resource.id),
})
