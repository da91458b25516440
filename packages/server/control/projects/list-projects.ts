import { listProjects as loadProjects } from '../../storage/tenancy/projects.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { ProjectResource, toProjectResource } from './project-resource.ts'

export const listProjects = defineOperation('GET /v1/orgs/{orgId}/projects', {
  name: 'projects.list',
  summary: "An organization's projects, newest first.",
  access: { role: 'viewer', of: 'org' },
  query: z.strictObject(pageQuery),
  response: { 200: listOf(ProjectResource) },
  handle: ({ services, resource, query }) =>
    loadPage(
      query,
      ['projects.list', resource.id],
      page => loadProjects(services.db, resource.id, page),
      toProjectResource,
    ),
})
