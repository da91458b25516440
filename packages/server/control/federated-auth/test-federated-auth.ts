import { Fault } from '../../core/fault.ts'
import type { KeySets } from '../../identity/key-sets.ts'
import { findOwnConfig, verifyIdentityToken } from '../../identity/verify-identity-token.ts'
import { findFederatedAuth } from '../../storage/end-users/federated-auth.ts'
import { toFederatedConfig } from '../../storage/snapshots/auth-snapshots.ts'
import { defineOperation } from '../operation/operation.ts'
import { FederatedAuthTestRequest } from './federated-auth-body.ts'
import { FederatedAuthTest } from './federated-auth-resource.ts'
import { loadKeySets } from './load-key-sets.ts'

export const testFederatedAuth = defineOperation('POST /v1/projects/{projectId}/federated-auth/test', {
  name: 'federated_auth.test',
  summary:
    'Checks an identity token: returns the end user and plan it would give, or why it would be rejected. Issues no token.',
  access: { role: 'admin', of: 'project' },
  body: FederatedAuthTestRequest,
  response: { 200: FederatedAuthTest },
  faults: ['federated_auth_not_configured', 'federated_config_invalid'],
  audit: 'none',
  prepare: ({ services, resource }) => findFederatedAuth(services.db, resource.id),
  handle: async ({ services, resource, prepared: row, body }) => {
    if (row === undefined) {
      throw new Fault('federated_auth_not_configured', 'The project has no federated auth.')
    }
    const { identity_token: token } = body
    const config = toFederatedConfig(row)
    // As at the gateway, where issuers that the token does not name are not asked.
    const own = findOwnConfig(token, config)
    // No statement precedes this call, so that no connection is held while the identity provider responds.
    const keySets: KeySets = own === undefined ? new Map() : await loadKeySets(services, own, resource.org_id)
    const identity = await verifyIdentityToken(token, config, keySets, services.clock.now())
    return identity.valid
      ? { valid: true, end_user_id: identity.endUserId, plan: identity.plan, reason: null }
      : { valid: false, end_user_id: null, plan: null, reason: identity.reason }
  },
})
