import { defineGet } from '../operation/define-get.ts'
import { ProjectResource, toProjectResource } from './project-resource.ts'

export const getProject = defineGet('project', '/v1/projects/{projectId}', {
  name: 'projects.get',
  summary: 'One project.',
  response: ProjectResource,
  toResponse: toProjectResource,
})
