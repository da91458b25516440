import { insertLimit } from '../../storage/policies/limits.ts'
import { newRecord, ownerColumns } from '../operation/new-record.ts'
import { defineOperation } from '../operation/operation.ts'
import { NewLimit, parseLimit } from './limit-body.ts'
import { completeLimit, LimitResource, toLimitResource } from './limit-resource.ts'
import { measureLimit } from './measure-limits.ts'

export const createEnvironmentLimit = defineOperation('POST /v1/environments/{envId}/limits', {
  name: 'limits.create',
  summary:
    'Creates a rate limit for an environment, one of its keys, one of its end users, or every end user without one of its own.',
  access: { role: 'developer', of: 'environment' },
  body: NewLimit,
  response: { 201: LimitResource },
  handle: async ({ services, resource, body }) => {
    const owner = ownerColumns(resource)
    const fields = await parseLimit(services.db, owner, body)
    const row = await insertLimit(services.db, { ...newRecord(services), ...owner, ...fields })
    return toLimitResource(await measureLimit(services, row))
  },
  complete: completeLimit,
})
