import { updateCredentialValidation } from '../../storage/models/credential-validation.ts'
import { defineOperation } from '../operation/operation.ts'
import { orResourceNotFound } from '../operation/or-not-found.ts'
import { checkStoredCredential } from './check-stored-credential.ts'
import { CredentialResource, toCredentialResource } from './credential-resource.ts'

export const validateCredential = defineOperation('POST /v1/provider-credentials/{id}/validate', {
  name: 'provider_credentials.validate',
  summary:
    'Checks the key with its provider and stores the models that it can use. In the record, `validation_error` is null if the key is valid.',
  access: { role: 'developer', of: 'provider_credential' },
  response: { 200: CredentialResource },
  handle: async ({ services, resource }) => {
    // Call the provider before the first statement, so that no connection is held while it responds.
    const outcome = await services.hostSlots.run(resource.org_id, () =>
      checkStoredCredential(resource, services),
    )
    const at = new Date(services.clock.now())
    return toCredentialResource(
      orResourceNotFound(
        await updateCredentialValidation(services.db, resource, { at, ...outcome }, services),
      ),
    )
  },
})
