import { defineOperation } from '../operation/operation.ts'
import { AliasResource, toAliasResource } from './alias-resource.ts'

export const getAlias = defineOperation({
  name: 'model_aliases.get',
  summary: 'One model alias.',
  method: 'GET',
  path: '/v1/model-aliases/{id}',
  access: { role: 'viewer', of: 'model_alias' },
  response: { 200: AliasResource },
  handle: async ({ resource }) => toAliasResource(resource),
})
