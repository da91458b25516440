import { type KeyChange, lockKey, updateKey as storeKey } from '../../storage/keys/keys.ts'
import { toNanoUsd } from '../operation/money.ts'
import { defineOperation } from '../operation/operation.ts'
import type { z } from '../operation/zod.ts'
import { assertActiveKey } from './assert-active-key.ts'
import { type keyFields, parseExpiry, parseScopes } from './key-body.ts'
import { KeyChanges } from './key-change-body.ts'
import { KeyResource, toKeyResource } from './key-resource.ts'

export const updateKey = defineOperation('PATCH /v1/keys/{keyId}', {
  name: 'keys.update',
  summary:
    'Changes an active key. Restrictions that are not sent stay; null removes one, and `restrictions: null` all of them.',
  access: { role: 'developer', of: 'key' },
  body: KeyChanges,
  response: { 200: KeyResource },
  faults: ['invalid_scope', 'resource_conflict'],
  handle: async ({ services, resource, body }) => {
    const now = services.clock.now()
    const change = toChange(body, now)
    return await services.db.transaction().execute(async tx => {
      assertActiveKey(await lockKey(tx, resource.id), now)
      return toKeyResource(await storeKey(tx, resource.id, change, new Date(now)))
    })
  },
})

function toChange(body: z.output<typeof KeyChanges>, now: number): KeyChange {
  const { name, scopes, restrictions, expires_at } = body
  return {
    ...(name === undefined ? {} : { name }),
    ...(scopes === undefined ? {} : { scopes: parseScopes(scopes) }),
    ...(restrictions === undefined ? {} : toRestrictionChange(restrictions)),
    ...(expires_at === undefined ? {} : { expires_at: parseExpiry(expires_at, now) }),
  }
}

function toRestrictionChange(restrictions: z.output<typeof keyFields.restrictions>): KeyChange {
  if (restrictions == null) {
    return { allowed_models: null, allowed_endpoints: null, max_request_cost_nano_usd: null }
  }
  const { allowed_models, allowed_endpoints, max_request_cost_usd: maxUsd } = restrictions
  return {
    ...(allowed_models === undefined ? {} : { allowed_models }),
    ...(allowed_endpoints === undefined ? {} : { allowed_endpoints }),
    ...(maxUsd === undefined
      ? {}
      : { max_request_cost_nano_usd: maxUsd === null ? null : toNanoUsd(maxUsd) }),
  }
}
