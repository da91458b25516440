import { defineOperation } from '../operation/operation.ts'
import { listOf } from '../operation/pagination.ts'
import { loadUsage } from './load-usage.ts'
import { UsageQuery } from './usage-query.ts'
import { UsageResource } from './usage-resource.ts'

export const listProjectUsage = defineOperation('GET /v1/projects/{projectId}/usage', {
  name: 'usage.list_of_project',
  summary: "A project's usage, newest bucket first.",
  access: { role: 'viewer', of: 'project' },
  query: UsageQuery,
  response: { 200: listOf(UsageResource) },
  handle: ({ services, resource, query }) =>
    loadUsage(services, query, 'usage.list_of_project', resource.org_id, {
      column: 'project_id',
      id: resource.id,
    }),
})
