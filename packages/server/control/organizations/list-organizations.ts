import { organizationsOf } from '../../core/access/permissions.ts'
import { listOrganizations as loadOrganizations } from '../../storage/tenancy/organizations.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { OrganizationResource, toOrganizationResource } from './organization-resource.ts'

export const listOrganizations = defineOperation('GET /v1/orgs', {
  name: 'orgs.list',
  summary: 'The organizations of which the caller is a member.',
  access: { role: 'viewer', of: 'actor' },
  query: z.strictObject(pageQuery),
  response: { 200: listOf(OrganizationResource) },
  handle: ({ services, actor, query }) =>
    loadPage(
      query,
      ['orgs.list', actor.id],
      page => loadOrganizations(services.db, organizationsOf(actor), page),
      toOrganizationResource,
    ),
})
