import { defineOperation } from '../operation/operation.ts'
import { EnvironmentResource, toEnvironmentResource } from './environment-resource.ts'

export const getEnvironment = defineOperation('GET /v1/environments/{envId}', {
  name: 'environments.get',
  summary: 'One environment.',
  access: { role: 'viewer', of: 'environment' },
  response: { 200: EnvironmentResource },
  handle: async ({ resource }) => toEnvironmentResource(resource),
})
