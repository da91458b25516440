import { listKeys as loadKeys } from '../../storage/keys.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { KeyResource, toKeyResource } from './key-resource.ts'

export const listKeys = defineOperation('GET /v1/environments/{envId}/keys', {
  name: 'keys.list',
  summary: "An environment's keys, revoked and expired ones too, newest first.",
  access: { role: 'viewer', of: 'environment' },
  query: z.strictObject(pageQuery),
  response: { 200: listOf(KeyResource) },
  handle: ({ services, resource, query }) =>
    loadPage(
      query,
      ['keys.list', resource.id],
      page => loadKeys(services.db, resource.id, page),
      toKeyResource,
    ),
})
