import { Fault } from '../../core/fault.ts'
import { insertProviderCredential } from '../../storage/models/provider-credentials.ts'
import { findEnvironment } from '../../storage/tenancy/environments.ts'
import { defineOperation } from '../operation/operation.ts'
import { assertBaseUrl } from './assert-base-url.ts'
import { checkNewCredential } from './check-new-credential.ts'
import { parseCredential } from './credential-body.ts'
import { CredentialResource, toCredentialResource } from './credential-resource.ts'
import { toCredentialRow } from './new-credential.ts'
import { NewProjectProviderCredential } from './new-credential-body.ts'

export const createProjectCredential = defineOperation('POST /v1/projects/{projectId}/provider-credentials', {
  name: 'provider_credentials.create_in_project',
  summary:
    "Stores a provider's key for the environment that the body names and asks the provider for its models. The key is never returned.",
  access: { role: 'developer', of: 'project' },
  body: NewProjectProviderCredential,
  response: { 201: CredentialResource },
  prepare: async ({ services, resource, body }) => {
    const environment = await findEnvironment(services.db, body.environment_id)
    // Access to the project was checked; the environment must belong to it.
    if (environment === undefined || environment.project_id !== resource.id) {
      throw new Fault('resource_not_found', 'The project has no environment with this id.', {
        param: 'environment_id',
      })
    }
    return environment
  },
  handle: async ({ services, resource, body, prepared: environment }) => {
    const { environment_id: _, ...fields } = body
    const input = parseCredential(fields)
    await assertBaseUrl(services, resource.org_id, input.provider, input.baseUrl)
    const checked = await checkNewCredential(services, resource.org_id, input)
    const row = toCredentialRow(services, environment, input, checked)
    return toCredentialResource(await insertProviderCredential(services.db, row))
  },
})
