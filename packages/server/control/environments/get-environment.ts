import { defineGet } from '../operation/define-get.ts'
import { EnvironmentResource, toEnvironmentResource } from './environment-resource.ts'

export const getEnvironment = defineGet('environment', '/v1/environments/{envId}', {
  name: 'environments.get',
  summary: 'One environment.',
  response: EnvironmentResource,
  toResponse: toEnvironmentResource,
})
