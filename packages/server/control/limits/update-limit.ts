import { lockLimit, updateLimit as storeLimit } from '../../storage/policies/limits.ts'
import { assertRole } from '../operation/assert-role.ts'
import { mergeScopeChange } from '../operation/merge-change.ts'
import { defineOperation } from '../operation/operation.ts'
import { orResourceNotFound } from '../operation/or-not-found.ts'
import { LimitChange, parseLimit } from './limit-body.ts'
import { completeLimit, LimitResource, toLimitResource } from './limit-resource.ts'
import { measureLimit } from './measure-limits.ts'

export const updateLimit = defineOperation('PATCH /v1/limits/{id}', {
  name: 'limits.update',
  summary: 'Changes a rate limit. A limit of the organization needs the role admin.',
  access: { role: 'developer', of: 'limit' },
  body: LimitChange,
  response: { 200: LimitResource },
  handle: async ({ services, resource, role, body }) => {
    if (resource.environment_id === null) assertRole(role, 'admin')
    // Locks the row: what another call changed since the caller was admitted stays.
    const stored = orResourceNotFound(await lockLimit(services.db, resource.id))
    const merged = mergeScopeChange(stored, body)
    // Limits on concurrency have no window.
    if (merged.metric === 'concurrency' && body.window_seconds === undefined) merged.window_seconds = null
    const fields = await parseLimit(services.db, stored, merged, stored)
    const now = new Date(services.clock.now())
    const row = orResourceNotFound(await storeLimit(services.db, resource.id, fields, now))
    return toLimitResource(await measureLimit(services, row))
  },
  complete: completeLimit,
})
