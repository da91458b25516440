import { defineGet } from '../operation/define-get.ts'
import { OrganizationResource, toOrganizationResource } from './organization-resource.ts'

export const getOrganization = defineGet('org', '/v1/orgs/{orgId}', {
  name: 'orgs.get',
  summary: 'One organization.',
  response: OrganizationResource,
  toResponse: toOrganizationResource,
})
