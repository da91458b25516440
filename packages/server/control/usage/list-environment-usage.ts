import { defineUsageList } from './define-usage-list.ts'

export const listEnvironmentUsage = defineUsageList('environment', '/v1/environments/{envId}/usage', {
  name: 'usage.list_of_environment',
  summary: "An environment's usage, newest bucket first.",
})
