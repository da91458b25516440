import { listEnvironments as loadEnvironments } from '../../storage/tenancy/environments.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { EnvironmentResource, toEnvironmentResource } from './environment-resource.ts'

export const listEnvironments = defineOperation('GET /v1/projects/{projectId}/environments', {
  name: 'environments.list',
  summary: "A project's two environments.",
  access: { role: 'viewer', of: 'project' },
  query: z.strictObject(pageQuery),
  response: { 200: listOf(EnvironmentResource) },
  handle: ({ services, resource, query }) =>
    loadPage(
      query,
      ['environments.list', resource.id],
      page => loadEnvironments(services.db, resource.id, page),
      toEnvironmentResource,
    ),
})
