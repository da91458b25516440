import { updateProject as storeProject } from '../../storage/projects.ts'
import { defineOperation } from '../operation/operation.ts'
import { orConflict } from '../operation/or-conflict.ts'
import { ProjectChange } from './project-fields.ts'
import { ProjectResource, toProjectResource } from './project-resource.ts'

export const updateProject = defineOperation('PATCH /v1/projects/{projectId}', {
  name: 'projects.update',
  summary: 'Changes a project. `allowed_origins: null` allows no browser origin.',
  access: { role: 'admin', of: 'project' },
  body: ProjectChange,
  response: { 200: ProjectResource },
  faults: ['resource_conflict'],
  handle: async ({ services, resource, body }) => {
    const { name, slug, allowed_origins } = body
    const change = {
      ...(name === undefined ? {} : { name }),
      ...(slug === undefined ? {} : { slug }),
      ...(allowed_origins === undefined ? {} : { allowed_origins: allowed_origins ?? [] }),
    }
    const now = new Date(services.clock.now())
    const stored = storeProject(services.db, resource.id, change, now)
    return toProjectResource(await orConflict(stored, 'projects_slug', 'slug'))
  },
})
