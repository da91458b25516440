import { Fault } from '../../core/fault.ts'
import { insertManagementKey } from '../../storage/keys/management-keys.ts'
import { defineOperation } from '../operation/operation.ts'
import { ManagementKeyRequest } from './management-key-body.ts'
import { NewManagementKeyResource, toManagementKeyResource } from './management-key-resource.ts'
import { createManagementKeyRow } from './new-management-key.ts'

export const createManagementKey = defineOperation('POST /v1/orgs/{orgId}/management-keys', {
  name: 'management_keys.create',
  summary: 'Creates a management key. Its plaintext is in this response only.',
  // No management key has the role owner, so only a user can create one.
  access: { role: 'owner', of: 'org' },
  body: ManagementKeyRequest,
  response: { 201: NewManagementKeyResource },
  handle: async ({ services, actor, resource, body }) => {
    const expiresAt = typeof body.expires_at === 'string' ? new Date(body.expires_at) : null
    if (expiresAt !== null && expiresAt.getTime() <= services.clock.now()) {
      throw new Fault('invalid_request', 'expires_at must lie in the future.', { param: 'expires_at' })
    }
    const input = { orgId: resource.id, name: body.name, role: body.role, expiresAt, createdBy: actor.id }
    const { row, text } = createManagementKeyRow(services, input)
    await insertManagementKey(services.db, row)
    return { ...toManagementKeyResource(row), key: text }
  },
})
