import { removeProviderCredential } from '../../storage/provider-credentials.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'

export const deleteCredential = defineOperation({
  name: 'provider_credentials.delete',
  summary: 'Removes a provider credential and its stored key.',
  method: 'DELETE',
  path: '/v1/provider-credentials/{id}',
  access: { role: 'developer', of: 'provider_credential' },
  response: { 204: z.undefined() },
  handle: ({ services, resource }) => removeProviderCredential(services.db, resource.id),
})
