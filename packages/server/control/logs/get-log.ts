import { hasRole } from '../../core/access/permissions.ts'
import { defineOperation } from '../operation/operation.ts'
import { explainCost } from './explain-cost.ts'
import { LogDetailResource, toCheckedLimit, toLogResource } from './log-resource.ts'

export const getLog = defineOperation('GET /v1/logs/{requestId}', {
  name: 'logs.get',
  summary:
    'One request by its X-Request-Id. Bodies are included if capture was full and the caller has at least the role developer.',
  access: { role: 'viewer', of: 'log' },
  response: { 200: LogDetailResource },
  handle: async ({ services, resource, role }) => {
    const readsBodies = hasRole(role, 'developer')
    const shown = readsBodies ? ('included' as const) : ('role' as const)
    const isCaptured = resource.request_body !== null || resource.response_body !== null
    return {
      ...toLogResource(resource),
      cost_parts: await explainCost(services.db, resource),
      dropped_params: resource.dropped_params,
      checked_limits: resource.checked_limits?.map(toCheckedLimit) ?? null,
      bodies: isCaptured ? shown : ('not_captured' as const),
      request_body: readsBodies ? resource.request_body : null,
      response_body: readsBodies ? resource.response_body : null,
    }
  },
})
