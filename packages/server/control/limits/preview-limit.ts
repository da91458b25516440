import { Fault } from '../../core/fault.ts'
import { CALENDAR_WINDOWS } from '../../core/windows.ts'
import { findOrganization } from '../../storage/organizations.ts'
import { countRefusals } from '../../storage/refusals.ts'
import { dateTime, textField } from '../operation/fields.ts'
import { defineOperation } from '../operation/operation.ts'
import { orGone } from '../operation/or-gone.ts'
import { parseScopeRef } from '../operation/scope-ref.ts'
import { z } from '../operation/zod.ts'

const TRIED_MS = 7 * 86_400_000
const MAX_WINDOW_SECONDS = 31 * 24 * 3600

const LimitQuestion = z
  .strictObject({
    scope: z.enum(['environment', 'key', 'end_user', 'default_end_user']),
    scope_ref: textField(255).nullish(),
    metric: z.enum(['requests', 'tokens']),
    limit: z.int().min(0),
    window_seconds: z
      .int()
      .min(1)
      .max(MAX_WINDOW_SECONDS)
      .nullish()
      .meta({ description: 'Of a rate limit.' }),
    window: z
      .enum(CALENDAR_WINDOWS)
      .nullish()
      .meta({ description: 'Of a quota, instead of `window_seconds`.' }),
  })
  .meta({ id: 'LimitQuestion' })

const LimitPreview = z
  .strictObject({
    from: dateTime.meta({
      description: '7 days ago; later where there were too many requests to try them all.',
    }),
    to: dateTime,
    requests: z.int().meta({ description: 'Served requests that the rule concerns.' }),
    refused: z.int().meta({ description: 'How many of them it would have refused.' }),
    affected: z.int().meta({
      description: 'How many end users it would have refused, for `default_end_user`; else 1 or 0.',
    }),
  })
  .meta({ id: 'LimitPreview' })

export const previewLimit = defineOperation('POST /v1/environments/{envId}/limits/preview', {
  name: 'limits.preview',
  summary:
    'Returns how many requests of the last 7 days a rate limit or quota would have refused, without storing it. Windows of seconds are counted from the full minute, hour or day.',
  access: { role: 'viewer', of: 'environment' },
  body: LimitQuestion,
  response: { 200: LimitPreview },
  audit: 'none',
  handle: async ({ services: { db, clock }, resource, body }) => {
    const { scope, metric, limit, window, window_seconds } = body
    if ((window == null) === (window_seconds == null)) {
      throw new Fault('invalid_request', 'Exactly one of window and window_seconds is needed.', {
        param: 'window',
      })
    }
    const owner = { org_id: resource.org_id, project_id: resource.project_id, environment_id: resource.id }
    const scopeRef = await parseScopeRef(db, owner, scope, body.scope_ref ?? null)
    const { time_zone: timeZone } = orGone(await findOrganization(db, resource.org_id))
    const now = clock.now()
    const since = new Date(now - TRIED_MS)
    const rule = { environmentId: resource.id, scope, scopeRef, metric, limit, timeZone }
    const { requests, refused, affected, oldest, isWhole } = await countRefusals(
      db,
      { ...rule, window: window ?? window_seconds ?? 60 },
      since,
    )
    return {
      from: (isWhole || oldest === null ? since : oldest).toISOString(),
      to: new Date(now).toISOString(),
      requests,
      refused,
      affected,
    }
  },
})
