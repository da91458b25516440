import { insertProviderCredential } from '../../storage/models/provider-credentials.ts'
import { defineOperation } from '../operation/operation.ts'
import { assertBaseUrl } from './assert-base-url.ts'
import { checkNewCredential } from './check-new-credential.ts'
import { parseCredential } from './credential-body.ts'
import { CredentialResource, toCredentialResource } from './credential-resource.ts'
import { toCredentialRow } from './new-credential.ts'
import { NewProviderCredential } from './new-credential-body.ts'

export const createCredential = defineOperation('POST /v1/environments/{envId}/provider-credentials', {
  name: 'provider_credentials.create',
  summary:
    "Stores a provider's key for an environment and asks the provider for its models. The key is never returned; `validation_error` tells whether the provider accepts it.",
  access: { role: 'developer', of: 'environment' },
  body: NewProviderCredential,
  response: { 201: CredentialResource },
  handle: async ({ services, resource, body }) => {
    const input = parseCredential(body)
    await assertBaseUrl(services, resource.org_id, input.provider, input.baseUrl)
    const checked = await checkNewCredential(services, resource.org_id, input)
    const row = toCredentialRow(services, resource, input, checked)
    return toCredentialResource(await insertProviderCredential(services.db, row))
  },
})
