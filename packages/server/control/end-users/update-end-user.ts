import { updateEndUser as storeEndUser } from '../../storage/end-users/end-users.ts'
import { defineOperation } from '../operation/operation.ts'
import { orConflict } from '../operation/or-conflict.ts'
import { assertNotReserved, EndUserChange, encodeAttributes, findPlanId } from './end-user-body.ts'
import { EndUserResource } from './end-user-resource.ts'
import { readEndUser } from './read-end-user.ts'

export const updateEndUser = defineOperation('PATCH /v1/end-users/{id}', {
  name: 'end_users.update',
  summary: "Changes an end user's record. Usage follows the external_id.",
  access: { role: 'developer', of: 'end_user' },
  body: EndUserChange,
  response: { 200: EndUserResource },
  faults: ['attributes_too_large', 'resource_conflict'],
  handle: async ({ services, resource, body }) => {
    const { external_id, plan, attributes } = body
    if (external_id !== undefined && external_id !== resource.external_id) assertNotReserved(external_id)
    const change = {
      ...(external_id === undefined ? {} : { external_id }),
      ...(plan === undefined
        ? {}
        : { plan_id: await findPlanId(services.db, resource.environment_id, plan) }),
      ...(attributes === undefined ? {} : { attributes: encodeAttributes(attributes) }),
    }
    const update = storeEndUser(services.db, resource.id, change, new Date(services.clock.now()))
    await orConflict(update, 'end_users_external', 'external_id')
    return await readEndUser(services, resource.id)
  },
})
