import { isProjectSlugTaken } from '../../storage/projects.ts'
import { defineOperation } from '../operation/operation.ts'
import { orConflict } from '../operation/or-conflict.ts'
import { findFreeSlug, toSlug } from '../operation/slug.ts'
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
    const input = {
      orgId: resource.id,
      name: body.name,
      slug: body.slug ?? (await findFreeSlug(toSlug(body.name, 'project'), isTaken, services.random)),
      allowedOrigins: body.allowed_origins ?? [],
    }
    const made = services.db.transaction().execute(tx => storeProject(tx, services, input))
    const { project } = await orConflict(made, 'projects_slug', 'slug')
    return toProjectResource(project)
  },
})
