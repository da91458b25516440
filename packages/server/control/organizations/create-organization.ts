import { Fault } from '../../core/fault.ts'
import { isOrganizationSlugTaken } from '../../storage/tenancy/organizations.ts'
import { extendTenantScope } from '../../storage/tenant-scope.ts'
import { MAX_MEMBERSHIPS } from '../../storage/users/members.ts'
import { defineOperation } from '../operation/operation.ts'
import { orConflict } from '../operation/or-conflict.ts'
import { toSlug, writeWithFreeSlug } from '../operation/slug.ts'
import { createOwnedOrganization } from './new-organization.ts'
import { DEFAULT_TIME_ZONE, NewOrganization } from './organization-fields.ts'
import { OrganizationResource, toOrganizationResource } from './organization-resource.ts'
import { parseTimeZone } from './parse-time-zone.ts'

export const createOrganization = defineOperation('POST /v1/orgs', {
  name: 'orgs.create',
  summary: 'Creates an organization, owned by the signed-in user.',
  access: 'session',
  body: NewOrganization,
  response: { 201: OrganizationResource },
  faults: ['resource_conflict'],
  audit: (_, result) => ({ orgIds: [result.id] }),
  handle: async ({ services, actor, body }) => {
    const time_zone = await parseTimeZone(services, body.time_zone, 'invalid_request')
    if (actor.memberships.length >= MAX_MEMBERSHIPS) {
      const message = `A user may belong to at most ${MAX_MEMBERSHIPS} organizations: leave or delete one first.`
      throw new Fault('resource_conflict', message)
    }
    // Slugs are unique in the deployment, so the check goes beyond the caller's own organizations.
    const isTaken = (slug: string): Promise<boolean> => isOrganizationSlugTaken(services.wholeDb, slug)
    const { name, slug } = body
    const settings = { id: services.newId(), name, time_zone: time_zone ?? DEFAULT_TIME_ZONE }
    await extendTenantScope(services.db, settings.id)
    const index = 'organizations_slug'
    const write = (slug: string) =>
      services.db
        .transaction()
        .execute(tx => createOwnedOrganization(tx, services, { ...settings, slug }, actor.id))
    const creation =
      slug == null
        ? writeWithFreeSlug(toSlug(name, 'organization'), services.random, { isTaken, index, write })
        : write(slug)
    return toOrganizationResource(await orConflict(creation, index, 'slug'))
  },
})
