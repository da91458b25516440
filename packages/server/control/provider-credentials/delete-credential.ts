import { removeProviderCredential } from '../../storage/models/provider-credentials.ts'
import { defineOperation } from '../operation/operation.ts'
import { assertRemoved } from '../operation/or-not-found.ts'

export const deleteCredential = defineOperation('DELETE /v1/provider-credentials/{id}', {
  name: 'provider_credentials.delete',
  summary: 'Removes a provider credential and its stored key.',
  access: { role: 'developer', of: 'provider_credential' },
  handle: async ({ services, resource }) => {
    assertRemoved(await removeProviderCredential(services.db, resource.id))
  },
})
