import type { JsonObject } from '@rideau/llm/json/json-value'
import { findProvider } from '@rideau/llm/providers/index'
import { toModelsBaseUrl } from '@rideau/llm/upstream/base-address'
import { chargeLookupsTo } from '../../http/egress.ts'
import { toLookupOwner } from '../../http/lookup-slots.ts'
import { updateCredentialValidation } from '../../storage/credential-validation.ts'
import { defineOperation } from '../operation/operation.ts'
import { orGone } from '../operation/or-gone.ts'
import { checkCredential } from './check-credential.ts'
import { CredentialResource, toCredentialResource } from './credential-resource.ts'

const TIMEOUT_MS = 10_000

export const validateCredential = defineOperation('POST /v1/provider-credentials/{id}/validate', {
  name: 'provider_credentials.validate',
  summary:
    'Checks the key with its provider and stores the models that it can use. In the record, `validation_error` is null if the key is valid.',
  access: { role: 'developer', of: 'provider_credential' },
  response: { 200: CredentialResource },
  handle: async ({ services, resource }) => {
    const provider = findProvider(resource.provider)
    if (provider === undefined)
      throw new Error(`a stored credential of an unknown provider: ${resource.provider}`)
    const apiKey = services.secretBox.open(resource.secret_cipher, `provider_credentials:${resource.id}`)
    const options = resource.options as JsonObject
    const baseUrl = toModelsBaseUrl(provider, resource.base_url, options)
    // Call the provider before the first statement, so that no connection is held while it responds.
    const outcome = await checkCredential(
      { provider, baseUrl, apiKey, options },
      chargeLookupsTo(services.egress, toLookupOwner(resource.org_id)),
      TIMEOUT_MS,
      services.clock.now(),
    )
    const at = new Date(services.clock.now())
    return toCredentialResource(
      orGone(await updateCredentialValidation(services.db, resource, { at, ...outcome }, services)),
    )
  },
})
