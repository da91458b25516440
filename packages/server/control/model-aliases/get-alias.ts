import { defineGet } from '../operation/define-get.ts'
import { AliasResource, toAliasResource } from './alias-resource.ts'

export const getAlias = defineGet('model_alias', '/v1/model-aliases/{id}', {
  name: 'model_aliases.get',
  summary: 'One model alias.',
  response: AliasResource,
  toResponse: toAliasResource,
})
