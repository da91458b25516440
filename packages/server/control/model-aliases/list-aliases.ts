import { listModelAliases } from '../../storage/models/model-aliases.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { AliasResource, toAliasResource } from './alias-resource.ts'

export const listAliases = defineOperation('GET /v1/environments/{envId}/model-aliases', {
  name: 'model_aliases.list',
  summary: "An environment's model aliases, newest first.",
  access: { role: 'viewer', of: 'environment' },
  query: z.strictObject(pageQuery),
  response: { 200: listOf(AliasResource) },
  handle: ({ services, resource, query }) =>
    loadPage(
      query,
      ['model_aliases.list', resource.id],
      page => listModelAliases(services.db, resource.id, page),
      toAliasResource,
    ),
})
