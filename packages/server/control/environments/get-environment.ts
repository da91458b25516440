import { defineOperation } from '../operation/operation.ts'
import { EnvironmentResource, toEnvironmentResource } from './environment-resource.ts'

export const getEnvironment = defineOperation({
  name: 'environments.get',
  summary: 'One environment.',
  method: 'GET',
  path: '/v1/environments/{envId}',
  access: { role: 'viewer', of: 'environment' },
  response: { 200: EnvironmentResource },
  handle: async ({ resource }) => toEnvironmentResource(resource),
})
