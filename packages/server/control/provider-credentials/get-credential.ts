import { defineGet } from '../operation/define-get.ts'
import { CredentialResource, toCredentialResource } from './credential-resource.ts'

export const getCredential = defineGet('provider_credential', '/v1/provider-credentials/{id}', {
  name: 'provider_credentials.get',
  summary: 'One provider credential, without its key.',
  response: CredentialResource,
  toResponse: toCredentialResource,
})
