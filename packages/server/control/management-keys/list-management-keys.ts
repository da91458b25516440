import { listManagementKeys as loadKeys } from '../../storage/keys/management-keys.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { ManagementKeyResource, toManagementKeyResource } from './management-key-resource.ts'

export const listManagementKeys = defineOperation('GET /v1/orgs/{orgId}/management-keys', {
  name: 'management_keys.list',
  summary: "An organization's management keys, newest first, including revoked ones.",
  access: { role: 'viewer', of: 'org' },
  query: z.strictObject(pageQuery),
  response: { 200: listOf(ManagementKeyResource) },
  handle: ({ services, resource, query }) =>
    loadPage(
      query,
      ['management_keys.list', resource.id],
      page => loadKeys(services.db, resource.id, page),
      toManagementKeyResource,
    ),
})
