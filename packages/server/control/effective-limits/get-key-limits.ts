import { defineOperation } from '../operation/operation.ts'
import { wholeListQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { EffectiveLimits, getEffectiveLimits } from './effective-limits.ts'

export const getKeyLimits = defineOperation('GET /v1/keys/{keyId}/effective-limits', {
  name: 'keys.get_effective_limits',
  summary: 'Every rule that binds requests with a key now, from its organization down, with what is used.',
  access: { role: 'viewer', of: 'key' },
  query: z.strictObject(wholeListQuery),
  response: { 200: EffectiveLimits },
  handle: async ({ services, resource, query }) => ({
    ...(await getEffectiveLimits(services, query, ['keys.get_effective_limits', resource.id], {
      orgId: resource.org_id,
      projectId: resource.project_id,
      environmentId: resource.environment_id,
      keyId: resource.original_id,
      endUser: null,
    })),
    note: 'Requests that name an end user are bound by the rules of that end user too.',
  }),
})
