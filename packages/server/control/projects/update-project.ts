import { isProjectSlugTaken, updateProject as storeProject } from '../../storage/tenancy/projects.ts'
import { defineOperation } from '../operation/operation.ts'
import { orConflict } from '../operation/or-conflict.ts'
import { toSlug, writeWithFreeSlug } from '../operation/slug.ts'
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
    const derivedSlug = toSlug(name ?? resource.name, 'project')
    const change = {
      ...(name === undefined ? {} : { name }),
      ...(allowed_origins === undefined ? {} : { allowed_origins: allowed_origins ?? [] }),
    }
    const now = new Date(services.clock.now())
    const index = 'projects_slug'
    const write = (slug: string | undefined) =>
      services.db
        .transaction()
        .execute(tx =>
          storeProject(tx, resource.id, { ...change, ...(slug === undefined ? {} : { slug }) }, now),
        )
    const stored =
      body.slug === null
        ? writeWithFreeSlug(derivedSlug, services.random, { isTaken, own: resource.slug, index, write })
        : write(body.slug)
    return toProjectResource(await orConflict(stored, index, 'slug'))
  },
})
