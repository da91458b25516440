import { insertLimit } from '../../storage/limits.ts'
import { defineOperation } from '../operation/operation.ts'
import { NewLimit, parseLimit } from './limit-body.ts'
import { LimitResource, toLimitResource } from './limit-resource.ts'
import { toLimitRow } from './new-limit.ts'

export const createEnvironmentLimit = defineOperation('POST /v1/environments/{envId}/limits', {
  name: 'limits.create',
  summary:
    'Creates a rate limit for an environment, one of its keys, one of its end users, or every end user without one of its own.',
  access: { role: 'developer', of: 'environment' },
  body: NewLimit,
  response: { 201: LimitResource },
  handle: async ({ services, resource, body }) => {
    const { org_id, project_id, id } = resource
    const owner = { org_id, project_id, environment_id: id }
    const row = toLimitRow(services, owner, await parseLimit(services.db, owner, body))
    return toLimitResource(await insertLimit(services.db, row))
  },
})
