import { isProjectSlugTaken } from '../../storage/tenancy/projects.ts'
import { defineOperation } from '../operation/operation.ts'
import { orConflict } from '../operation/or-conflict.ts'
import { toSlug, writeWithFreeSlug } from '../operation/slug.ts'
import { createProject as storeProject } from './new-project.ts'
import { NewProject } from './project-fields.ts'
import { ProjectResource, toProjectResource } from './project-resource.ts'

export const createProject = defineOperation('POST /v1/orgs/{orgId}/projects', {
  name: 'projects.create',
  summary: 'Creates a project with its two environments.',
  access: { role: 'admin', of: 'org' },
  body: NewProject,
  response: { 201: ProjectResource },
  faults: ['resource_conflict'],
  handle: async ({ services, resource, body }) => {
    const isTaken = (slug: string): Promise<boolean> => isProjectSlugTaken(services.db, resource.id, slug)
    const { name, slug } = body
    const allowedOrigins = body.allowed_origins ?? []
    const index = 'projects_slug'
    const write = (slug: string) =>
      services.db
        .transaction()
        .execute(tx => storeProject(tx, services, { orgId: resource.id, name, slug, allowedOrigins }))
    const creation =
      slug == null
        ? writeWithFreeSlug(toSlug(name, 'project'), services.random, { isTaken, index, write })
        : write(slug)
    const { project } = await orConflict(creation, index, 'slug')
    return toProjectResource(project)
  },
})
