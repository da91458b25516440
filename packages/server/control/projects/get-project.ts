import { defineOperation } from '../operation/operation.ts'
import { ProjectResource, toProjectResource } from './project-resource.ts'

export const getProject = defineOperation('GET /v1/projects/{projectId}', {
  name: 'projects.get',
  summary: 'One project.',
  access: { role: 'viewer', of: 'project' },
  response: { 200: ProjectResource },
  handle: async ({ resource }) => toProjectResource(resource),
})
