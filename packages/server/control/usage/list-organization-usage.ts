import { defineUsageList } from './define-usage-list.ts'

export const listOrganizationUsage = defineUsageList('org', '/v1/orgs/{orgId}/usage', {
  name: 'usage.list_of_organization',
  summary: "An organization's usage, newest bucket first. Requests of the sandbox cost nothing.",
})
