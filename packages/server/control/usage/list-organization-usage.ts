import { defineOperation } from '../operation/operation.ts'
import { listOf } from '../operation/pagination.ts'
import { loadUsage } from './load-usage.ts'
import { UsageQuery } from './usage-query.ts'
import { UsageResource } from './usage-resource.ts'

export const listOrganizationUsage = defineOperation('GET /v1/orgs/{orgId}/usage', {
  name: 'usage.list_of_organization',
  summary: "An organization's usage, newest bucket first. Requests of the sandbox cost nothing.",
  access: { role: 'viewer', of: 'org' },
  query: UsageQuery,
  response: { 200: listOf(UsageResource) },
  handle: ({ services, resource, query }) =>
    loadUsage(services, query, 'usage.list_of_organization', resource.id),
})
