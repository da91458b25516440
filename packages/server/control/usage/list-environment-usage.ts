import { defineOperation } from '../operation/operation.ts'
import { listOf } from '../operation/pagination.ts'
import { loadUsage } from './load-usage.ts'
import { UsageQuery } from './usage-query.ts'
import { UsageResource } from './usage-resource.ts'

export const listEnvironmentUsage = defineOperation('GET /v1/environments/{envId}/usage', {
  name: 'usage.list_of_environment',
  summary: "An environment's usage, newest bucket first.",
  access: { role: 'viewer', of: 'environment' },
  query: UsageQuery,
  response: { 200: listOf(UsageResource) },
  handle: ({ services, resource, query }) =>
    loadUsage(services, query, 'usage.list_of_environment', resource.org_id, {
      column: 'environment_id',
      id: resource.id,
    }),
})
