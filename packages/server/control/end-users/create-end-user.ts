import { insertEndUser } from '../../storage/end-users/end-users.ts'
import { newRecord, ownerColumns } from '../operation/new-record.ts'
import { defineOperation } from '../operation/operation.ts'
import { orConflict } from '../operation/or-conflict.ts'
import { assertNotReserved, encodeAttributes, findPlanId, NewEndUser } from './end-user-body.ts'
import { EndUserResource } from './end-user-resource.ts'
import { readEndUser } from './read-end-user.ts'

export const createEndUser = defineOperation('POST /v1/environments/{envId}/end-users', {
  name: 'end_users.create',
  summary: "Creates an end user's record. Its plan takes precedence over the plan in a token.",
  access: { role: 'developer', of: 'environment' },
  body: NewEndUser,
  response: { 201: EndUserResource },
  faults: ['attributes_too_large', 'resource_conflict'],
  handle: async ({ services, resource, body }) => {
    assertNotReserved(body.external_id)
    const row = {
      ...newRecord(services),
      ...ownerColumns(resource),
      external_id: body.external_id,
      plan_id: await findPlanId(services.db, resource.id, body.plan),
      attributes: encodeAttributes(body.attributes ?? null),
      blocked_at: null,
    }
    await orConflict(insertEndUser(services.db, row), 'end_users_external', 'external_id')
    return await readEndUser(services, row.id)
  },
})
