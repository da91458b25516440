import { removeProviderCredential } from '../../storage/models/provider-credentials.ts'
import { defineOperation } from '../operation/operation.ts'

export const deleteCredential = defineOperation('DELETE /v1/provider-credentials/{id}', {
  name: 'provider_credentials.delete',
  summary: 'Removes a provider credential and its stored key.',
  access: { role: 'developer', of: 'provider_credential' },
  handle: ({ services, resource }) => removeProviderCredential(services.db, resource.id),
})
