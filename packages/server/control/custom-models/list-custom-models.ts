import { listCustomModels as loadCustomModels } from '../../storage/models/custom-models.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { CustomModelResource, toCustomModelResource } from './custom-model-resource.ts'

export const listCustomModels = defineOperation('GET /v1/environments/{envId}/custom-models', {
  name: 'custom_models.list',
  summary: "An environment's own models and prices, newest first.",
  access: { role: 'viewer', of: 'environment' },
  query: z.strictObject(pageQuery),
  response: { 200: listOf(CustomModelResource) },
  handle: ({ services, resource, query }) =>
    loadPage(
      query,
      ['custom_models.list', resource.id],
      page => loadCustomModels(services.db, resource.id, page),
      toCustomModelResource,
    ),
})
