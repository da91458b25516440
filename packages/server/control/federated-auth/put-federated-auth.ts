import { upsertFederatedAuth } from '../../storage/end-users/federated-auth.ts'
import { defineOperation } from '../operation/operation.ts'
import { FederatedAuthBody, parseFederatedConfig } from './federated-auth-body.ts'
import { FederatedAuthResource, toFederatedAuthResource } from './federated-auth-resource.ts'
import { loadKeySets } from './load-key-sets.ts'
import { readFederatedAuth } from './read-federated-auth.ts'

export const putFederatedAuth = defineOperation('PUT /v1/projects/{projectId}/federated-auth', {
  name: 'federated_auth.put',
  summary:
    "Sets or replaces a project's identity provider. Its key set is fetched first; a configuration that does not work is rejected.",
  access: { role: 'admin', of: 'project' },
  body: FederatedAuthBody,
  response: { 200: FederatedAuthResource },
  faults: ['federated_config_invalid'],
  before: ({ services, resource }) => readFederatedAuth(services, resource.id),
  handle: async ({ services, resource, body }) => {
    const config = parseFederatedConfig(body, services.egress)
    // Call the identity provider before the first statement, so that no connection is held while it responds.
    await loadKeySets(services, config, resource.org_id)
    const now = new Date(services.clock.now())
    const row = await upsertFederatedAuth(services.db, {
      project_id: resource.id,
      org_id: resource.org_id,
      issuers: [...config.issuers],
      audiences: [...config.audiences],
      authorized_parties: [...config.authorizedParties],
      jwks_url: config.jwksUrl,
      algorithms: [...config.algorithms],
      user_id_claim: config.userIdClaim,
      plan_claim: config.planClaim,
      required_claims: JSON.stringify(config.requiredClaims),
      clock_tolerance_seconds: config.clockToleranceSeconds,
      max_token_age_seconds: config.maxTokenAgeSeconds,
      created_at: now,
      updated_at: now,
    })
    return toFederatedAuthResource(row)
  },
})
