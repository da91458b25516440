import { insertMember } from '../../storage/members.ts'
import { insertOrganization, isOrganizationSlugTaken } from '../../storage/organizations.ts'
import type { OrganizationRow } from '../../storage/schema.ts'
import { extendTenantScope } from '../../storage/tenant-scope.ts'
import { defineOperation } from '../operation/operation.ts'
import { orConflict } from '../operation/or-conflict.ts'
import { findFreeSlug, toSlug } from '../operation/slug.ts'
import { z } from '../operation/zod.ts'
import { DEFAULT_TIME_ZONE, organizationFields } from './organization-fields.ts'
import { OrganizationResource, toOrganizationResource } from './organization-resource.ts'

export const createOrganization = defineOperation('POST /v1/orgs', {
  name: 'orgs.create',
  summary: 'Creates an organization, owned by the signed-in user.',
  access: 'session',
  body: z
    .strictObject({
      name: organizationFields.name,
      slug: organizationFields.slug.nullish(),
      time_zone: organizationFields.time_zone.nullish(),
    })
    .meta({ id: 'NewOrganization' }),
  response: { 201: OrganizationResource },
  faults: ['resource_conflict'],
  audit: (_, result) => ({ orgIds: [result.id] }),
  handle: async ({ services, actor, body }) => {
    const now = new Date(services.clock.now())
    const both = { created_at: now, updated_at: now }
    const id = services.newId()
    // Slugs are unique in the deployment, so the check goes beyond the caller's own organizations.
    const isTaken = (slug: string): Promise<boolean> => isOrganizationSlugTaken(services.wholeDb, slug)
    const organization: OrganizationRow = {
      id,
      name: body.name,
      slug: body.slug ?? (await findFreeSlug(toSlug(body.name, 'organization'), isTaken, services.random)),
      time_zone: body.time_zone ?? DEFAULT_TIME_ZONE,
      ...both,
      deleted_at: null,
    }
    await extendTenantScope(services.db, id)
    await orConflict(insertOrganization(services.db, organization), 'organizations_slug', 'slug')
    await insertMember(services.db, {
      id: services.newId(),
      org_id: id,
      user_id: actor.id,
      role: 'owner',
      invite_email: null,
      invited_by: null,
      accepted_at: now,
      invite_hash: null,
      invite_expires_at: null,
      ...both,
    })
    return toOrganizationResource(organization)
  },
})
