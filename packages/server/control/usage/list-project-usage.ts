import { defineUsageList } from './define-usage-list.ts'

export const listProjectUsage = defineUsageList('project', '/v1/projects/{projectId}/usage', {
  name: 'usage.list_of_project',
  summary: "A project's usage, newest bucket first.",
})
