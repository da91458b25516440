import { defineOperation } from '../operation/operation.ts'
import { ProjectResource, toProjectResource } from './project-resource.ts'

export const getProject = defineOperation({
  name: 'projects.get',
  summary: 'One project.',
  method: 'GET',
  path: '/v1/projects/{projectId}',
  access: { role: 'viewer', of: 'project' },
  response: { 200: ProjectResource },
  handle: async ({ resource }) => toProjectResource(resource),
})
