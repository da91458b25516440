import { defineOperation } from '../operation/operation.ts'
import { OrganizationResource, toOrganizationResource } from './organization-resource.ts'

export const getOrganization = defineOperation({
  name: 'orgs.get',
  summary: 'One organization.',
  method: 'GET',
  path: '/v1/orgs/{orgId}',
  access: { role: 'viewer', of: 'org' },
  response: { 200: OrganizationResource },
  handle: async ({ resource }) => toOrganizationResource(resource),
})
