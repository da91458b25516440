import { defineOperation } from '../operation/operation.ts'
import { wholeListQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { EffectiveLimits, getEffectiveLimits } from './effective-limits.ts'

export const getEndUserLimits = defineOperation('GET /v1/end-users/{id}/effective-limits', {
  name: 'end_users.get_effective_limits',
  summary:
    'Every rule that binds requests of an end user now, from its organization down, with what is used.',
  access: { role: 'viewer', of: 'end_user' },
  query: z.strictObject(wholeListQuery),
  response: { 200: EffectiveLimits },
  handle: async ({ services, resource, query }) => ({
    ...(await getEffectiveLimits(services, query, ['end_users.get_effective_limits', resource.id], {
      orgId: resource.org_id,
      projectId: resource.project_id,
      environmentId: resource.environment_id,
      keyId: null,
      endUser: { id: resource.external_id, plan: resource.plan, isBlocked: resource.blocked_at !== null },
    })),
    note: 'Requests are bound by the rules of the key that they come with too. A token may name another plan.',
  }),
})
