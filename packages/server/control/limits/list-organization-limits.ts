import { listOrganizationLimits as loadLimits } from '../../storage/policies/limits.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { LimitResource, toLimitResource } from './limit-resource.ts'
import { measureLimits } from './measure-limits.ts'

export const listOrganizationLimits = defineOperation('GET /v1/orgs/{orgId}/limits', {
  name: 'limits.list_of_organization',
  summary: "The organization's own rate limits, newest first.",
  access: { role: 'viewer', of: 'org' },
  query: z.strictObject(pageQuery),
  response: { 200: listOf(LimitResource) },
  handle: ({ services, resource, query }) =>
    loadPage(
      query,
      ['limits.list_of_organization', resource.id],
      async page => measureLimits(services, await loadLimits(services.db, resource.id, page)),
      toLimitResource,
    ),
})
