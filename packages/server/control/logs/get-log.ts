import { hasRole } from '../../core/permissions.ts'
import { defineOperation } from '../operation/operation.ts'
import { LogDetailResource, toLogResource } from './log-resource.ts'

export const getLog = defineOperation('GET /v1/logs/{requestId}', {
  name: 'logs.get',
  summary:
    'One request by its X-Request-Id. Bodies are included if capture was full and the caller has at least the role developer.',
  access: { role: 'viewer', of: 'log' },
  response: { 200: LogDetailResource },
  handle: async ({ resource, role }) => {
    const readsBodies = hasRole(role, 'developer')
    return {
      ...toLogResource(resource),
      request_body: readsBodies ? resource.request_body : null,
      response_body: readsBodies ? resource.response_body : null,
    }
  },
})
