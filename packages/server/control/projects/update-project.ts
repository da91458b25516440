import { isProjectSlugTaken, updateProject as storeProject } from '../../storage/projects.ts'
import { defineOperation } from '../operation/operation.ts'
import { orConflict } from '../operation/or-conflict.ts'
import { findFreeSlug, toSlug } from '../operation/slug.ts'
import { ProjectChange } from './project-fields.ts'
import { ProjectResource, toProjectResource } from './project-resource.ts'

export const updateProject = defineOperation('PATCH /v1/projects/{projectId}', {
  name: 'projects.update',
  summary:
    'Changes a project. `slug: null` makes the slug from the name again; `allowed_origins: null` allows no browser origin.',
  access: { role: 'admin', of: 'project' },
  body: ProjectChange,
  response: { 200: ProjectResource },
  faults: ['resource_conflict'],
  handle: async ({ services, resource, body }) => {
    const { name, allowed_origins } = body
    const isTaken = (slug: string): Promise<boolean> => isProjectSlugTaken(services.db, resource.org_id, slug)
    const made = toSlug(name ?? resource.name, 'project')
    const slug =
      body.slug === null ? await findFreeSlug(made, isTaken, services.random, resource.slug) : body.slug
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
