import {
  isOrganizationSlugTaken,
  updateOrganization as storeOrganization,
} from '../../storage/tenancy/organizations.ts'
import { defineOperation } from '../operation/operation.ts'
import { orConflict } from '../operation/or-conflict.ts'
import { toSlug, writeWithFreeSlug } from '../operation/slug.ts'
import { DEFAULT_TIME_ZONE, OrganizationChange } from './organization-fields.ts'
import { OrganizationResource, toOrganizationResource } from './organization-resource.ts'
import { parseTimeZone } from './parse-time-zone.ts'

export const updateOrganization = defineOperation('PATCH /v1/orgs/{orgId}', {
  name: 'orgs.update',
  summary:
    'Changes an organization. `slug: null` makes the slug from the name again; `time_zone: null` resets the time zone to UTC.',
  access: { role: 'admin', of: 'org' },
  body: OrganizationChange,
  response: { 200: OrganizationResource },
  faults: ['resource_conflict'],
  handle: async ({ services, resource, body }) => {
    const { name } = body
    const time_zone = await parseTimeZone(services, body.time_zone, 'invalid_request')
    // Slugs are unique in the deployment.
    const isTaken = (slug: string): Promise<boolean> => isOrganizationSlugTaken(services.wholeDb, slug)
    const derivedSlug = toSlug(name ?? resource.name, 'organization')
    const change = {
      ...(name === undefined ? {} : { name }),
      ...(time_zone === undefined ? {} : { time_zone: time_zone ?? DEFAULT_TIME_ZONE }),
    }
    const now = new Date(services.clock.now())
    const index = 'organizations_slug'
    const write = (slug: string | undefined) =>
      services.db
        .transaction()
        .execute(tx =>
          storeOrganization(tx, resource.id, { ...change, ...(slug === undefined ? {} : { slug }) }, now),
        )
    const stored =
      body.slug === null
        ? writeWithFreeSlug(derivedSlug, services.random, { isTaken, own: resource.slug, index, write })
        : write(body.slug)
    return toOrganizationResource(await orConflict(stored, index, 'slug'))
  },
})
