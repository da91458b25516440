import { defineOperation } from '../operation/operation.ts'
import { CredentialResource, toCredentialResource } from './credential-resource.ts'

export const getCredential = defineOperation('GET /v1/provider-credentials/{id}', {
  name: 'provider_credentials.get',
  summary: 'One provider credential, without its key.',
  access: { role: 'viewer', of: 'provider_credential' },
  response: { 200: CredentialResource },
  handle: async ({ resource }) => toCredentialResource(resource),
})
