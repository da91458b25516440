import { isOrganizationSlugTaken } from '../../storage/organizations.ts'
import { extendTenantScope } from '../../storage/tenant-scope.ts'
import { defineOperation } from '../operation/operation.ts'
import { orConflict } from '../operation/or-conflict.ts'
import { findFreeSlug, toSlug } from '../operation/slug.ts'
import { createOwnedOrganization } from './new-organization.ts'
import { DEFAULT_TIME_ZONE, NewOrganization } from './organization-fields.ts'
import { OrganizationResource, toOrganizationResource } from './organization-resource.ts'

export const createOrganization = defineOperation('POST /v1/orgs', {
  name: 'orgs.create',
  summary: 'Creates an organization, owned by the signed-in user.',
  access: 'session',
  body: NewOrganization,
  response: { 201: OrganizationResource },
  faults: ['resource_conflict'],
  audit: (_, result) => ({ orgIds: [result.id] }),
  handle: async ({ services, actor, body }) => {
    // Slugs are unique in the deployment, so the check goes beyond the caller's own organizations.
    const isTaken = (slug: string): Promise<boolean> => isOrganizationSlugTaken(services.wholeDb, slug)
    const settings = {
      id: services.newId(),
      name: body.name,
      slug: body.slug ?? (await findFreeSlug(toSlug(body.name, 'organization'), isTaken, services.random)),
      time_zone: body.time_zone ?? DEFAULT_TIME_ZONE,
    }
    await extendTenantScope(services.db, settings.id)
    const made = createOwnedOrganization(services.db, services, settings, actor.id)
    return toOrganizationResource(await orConflict(made, 'organizations_slug', 'slug'))
  },
})
