import { revokeKey as storeRevocation } from '../../storage/keys/keys.ts'
import { defineOperation } from '../operation/operation.ts'
import { KeyResource, toKeyResource } from './key-resource.ts'

export const revokeKey = defineOperation('POST /v1/keys/{keyId}/revoke', {
  name: 'keys.revoke',
  summary: 'Ends a key at once. A second call changes nothing.',
  access: { role: 'developer', of: 'key' },
  response: { 200: KeyResource },
  handle: async ({ services, resource }) =>
    toKeyResource(await storeRevocation(services.db, resource.id, new Date(services.clock.now()))),
})
