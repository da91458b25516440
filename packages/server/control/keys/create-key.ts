import { Fault } from '../../core/fault.ts'
import { ENDPOINTS, SCOPES, type Scope } from '../../core/tenancy.ts'
import { insertKey } from '../../storage/keys.ts'
import { dateTimeField, textField } from '../fields.ts'
import { MAX_USD, toNanoUsd } from '../money.ts'
import { defineOperation } from '../operation.ts'
import { z } from '../zod.ts'
import { NewKeyResource, toKeyResource } from './key-resource.ts'
import { createKeyRow } from './new-key.ts'

const Restrictions = z.strictObject({
  allowed_models: z.array(textField(256)).max(1000).nullish(),
  allowed_endpoints: z.array(z.enum(ENDPOINTS)).max(ENDPOINTS.length).nullish(),
  max_request_cost_usd: z.number().min(0).max(MAX_USD).nullish(),
})

const NewKey = z
  .strictObject({
    kind: z.enum(['secret', 'publishable']),
    name: textField(200),
    // Names of scopes are looked at by the handler: an unknown one has a code of its own.
    scopes: z.array(z.string()).max(100).nullish(),
    restrictions: Restrictions.nullish(),
    expires_at: dateTimeField.nullish(),
  })
  .meta({ id: 'NewKey' })

export const createKey = defineOperation({
  name: 'keys.create',
  summary: 'Makes a key. Its plaintext is in this answer and in no other.',
  method: 'POST',
  path: '/v1/environments/{envId}/keys',
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
      scopes: parseScopes(body.scopes ?? SCOPES),
      allowedModels: restrictions?.allowed_models ?? null,
      allowedEndpoints: restrictions?.allowed_endpoints ?? null,
      maxRequestCostNanoUsd: maxCostUsd === null ? null : toNanoUsd(maxCostUsd),
      expiresAt: parseExpiry(body.expires_at ?? null, services.clock.now()),
    })
    await insertKey(services.db, row)
    return { ...toKeyResource(row), key: text }
  },
})

function parseScopes(names: readonly string[]): Scope[] {
  const scopes = SCOPES.filter(scope => names.includes(scope))
  if (names.length === 0 || names.some(name => !scopes.includes(name as Scope))) {
    throw new Fault('invalid_scope', `Scopes are one or more of ${SCOPES.join(', ')}.`, { param: 'scopes' })
  }
  return scopes
}

function parseExpiry(text: string | null, now: number): Date | null {
  if (text === null) return null
  const expiresAt = new Date(text)
  if (expiresAt.getTime() <= now) {
    throw new Fault('invalid_request', 'expires_at must lie in the future.', { param: 'expires_at' })
  }
  return expiresAt
}
