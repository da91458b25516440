import { defineOperation } from '../operation/operation.ts'
import { OrganizationResource, toOrganizationResource } from './organization-resource.ts'

export const getOrganization = defineOperation('GET /v1/orgs/{orgId}', {
  name: 'orgs.get',
  summary: 'One organization.',
  access: { role: 'viewer', of: 'org' },
  response: { 200: OrganizationResource },
  handle: async ({ resource }) => toOrganizationResource(resource),
})
