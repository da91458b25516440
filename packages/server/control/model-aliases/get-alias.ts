import { defineOperation } from '../operation/operation.ts'
import { AliasResource, toAliasResource } from './alias-resource.ts'

export const getAlias = defineOperation('GET /v1/model-aliases/{id}', {
  name: 'model_aliases.get',
  summary: 'One model alias.',
  access: { role: 'viewer', of: 'model_alias' },
  response: { 200: AliasResource },
  handle: async ({ resource }) => toAliasResource(resource),
})
