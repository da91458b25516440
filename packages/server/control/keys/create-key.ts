import { insertKey } from '../../storage/keys/keys.ts'
import { toNanoUsd } from '../operation/money.ts'
import { defineOperation } from '../operation/operation.ts'
import { NewKey, parseExpiry, parseScopes } from './key-body.ts'
import { NewKeyResource, toKeyResource } from './key-resource.ts'
import { createKeyRow } from './new-key.ts'

export const createKey = defineOperation('POST /v1/environments/{envId}/keys', {
  name: 'keys.create',
  summary: 'Creates a key. Its plaintext is in this response only.',
  access: { role: 'developer', of: 'environment' },
  body: NewKey,
  response: { 201: NewKeyResource },
  faults: ['invalid_scope'],
  handle: async ({ services, resource, body }) => {
    const { restrictions } = body
    const maxCostUsd = restrictions?.max_request_cost_usd ?? null
    const { row, text } = createKeyRow(services, resource, {
      kind: body.kind,
      name: body.name,
      scopes: parseScopes(body.scopes ?? null),
      allowedModels: restrictions?.allowed_models ?? null,
      allowedEndpoints: restrictions?.allowed_endpoints ?? null,
      maxRequestCostNanoUsd: maxCostUsd === null ? null : toNanoUsd(maxCostUsd),
      expiresAt: parseExpiry(body.expires_at ?? null, services.clock.now()),
    })
    await insertKey(services.db, row)
    return { ...toKeyResource(row), key: text }
  },
})
