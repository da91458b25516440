import { Fault } from '../../core/fault.ts'
import type { Endpoint, Scope } from '../../core/tenancy/tenancy.ts'
import { insertKey, lockKey, updateKey } from '../../storage/keys/keys.ts'
import { moveKeyRules } from '../../storage/policies/key-rules.ts'
import { findEnvironment } from '../../storage/tenancy/environments.ts'
import { defineOperation } from '../operation/operation.ts'
import { orResourceNotFound } from '../operation/or-not-found.ts'
import type { z } from '../operation/zod.ts'
import { assertActiveKey } from './assert-active-key.ts'
import { KeyRoll } from './key-change-body.ts'
import { NewKeyResource, toKeyResource } from './key-resource.ts'
import { createKeyRow } from './new-key.ts'

const DEFAULT_OVERLAP_SECONDS = 3600

export const rollKey = defineOperation('POST /v1/keys/{keyId}/roll', {
  name: 'keys.roll',
  summary:
    'Creates a key with the same rights and expiry. Both share the limits, quotas and budgets of the old key, which name the new one from then on. The old key stays valid for the overlap, one hour by default; 0 ends it at once.',
  access: { role: 'developer', of: 'key' },
  body: KeyRoll,
  response: { 201: NewKeyResource },
  faults: ['resource_conflict'],
  handle: async ({ services, resource, body }) => {
    const overlapMs = parseOverlapMs(body ?? {})
    const now = services.clock.now()
    return await services.db.transaction().execute(async tx => {
      // Locks the row, so that the new key has the current rights of the old one and is its only successor.
      const old = await lockKey(tx, resource.id)
      assertActiveKey(old, now)
      const environment = orResourceNotFound(await findEnvironment(tx, old.environment_id))
      const { row, text } = createKeyRow(services, environment, {
        originalId: old.original_id,
        kind: old.kind,
        name: old.name,
        // The schema checked these lists when they were written.
        scopes: old.scopes as Scope[],
        allowedModels: old.allowed_models,
        allowedEndpoints: old.allowed_endpoints as Endpoint[] | null,
        maxRequestCostNanoUsd: old.max_request_cost_nano_usd,
        expiresAt: old.expires_at,
      })
      await insertKey(tx, row)
      await moveKeyRules(tx, old, row.id, new Date(now))
      const end = Math.min(now + overlapMs, old.expires_at?.getTime() ?? Number.POSITIVE_INFINITY)
      await updateKey(tx, old.id, { rolled_to: row.id, expires_at: new Date(end) }, new Date(now))
      return { ...toKeyResource(row), key: text }
    })
  },
})

function parseOverlapMs({
  overlap_seconds: seconds,
  overlap_hours: hours,
}: NonNullable<z.output<typeof KeyRoll>>) {
  if (seconds != null && hours != null) {
    throw new Fault('invalid_request', 'Send overlap_seconds or overlap_hours, not both.', {
      param: 'overlap_hours',
    })
  }
  return Math.round((seconds ?? (hours == null ? DEFAULT_OVERLAP_SECONDS : hours * 3600)) * 1000)
}
