import { revokeManagementKey as storeRevocation } from '../../storage/keys/management-keys.ts'
import { defineOperation } from '../operation/operation.ts'
import { ManagementKeyResource, toManagementKeyResource } from './management-key-resource.ts'

export const revokeManagementKey = defineOperation('POST /v1/management-keys/{keyId}/revoke', {
  name: 'management_keys.revoke',
  summary: 'Ends a management key, from the next call on. A second call changes nothing.',
  access: { role: 'owner', of: 'management_key' },
  response: { 200: ManagementKeyResource },
  handle: async ({ services, resource }) =>
    toManagementKeyResource(await storeRevocation(services.db, resource.id, new Date(services.clock.now()))),
})
