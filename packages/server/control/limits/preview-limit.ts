import { Fault } from '../../core/fault.ts'
import { CALENDAR_WINDOWS } from '../../core/tenancy/windows.ts'
import type { Db } from '../../storage/pool.ts'
import { findOrganization } from '../../storage/tenancy/organizations.ts'
import {
  countConcurrencyRefusals,
  countRefusals,
  MAX_REQUESTS,
  type TriedRule,
} from '../../storage/usage/refusals.ts'
import { dateTime } from '../operation/fields.ts'
import { MAX_USD, toNanoUsd, usdField } from '../operation/money.ts'
import { defineOperation } from '../operation/operation.ts'
import { orResourceNotFound } from '../operation/or-not-found.ts'
import { parseScopeRef, scopeRefField } from '../operation/scope-ref.ts'
import { z } from '../operation/zod.ts'

const TRIED_MS = 7 * 86_400_000
const MAX_WINDOW_SECONDS = 31 * 24 * 3600

const LimitQuestion = z
  .strictObject({
    scope: z.enum(['environment', 'key', 'end_user', 'default_end_user']),
    scope_ref: scopeRefField.nullish(),
    metric: z.enum(['requests', 'tokens', 'usd', 'concurrency']).meta({
      description: '`usd`: of a budget. `concurrency`: running requests, without a window.',
    }),
    limit: z.number().min(0).max(Number.MAX_SAFE_INTEGER),
    window_seconds: z
      .int()
      .min(1)
      .max(MAX_WINDOW_SECONDS)
      .nullish()
      .meta({ description: 'Of a rate limit.' }),
    window: z
      .enum(CALENDAR_WINDOWS)
      .nullish()
      .meta({ description: 'Of a quota or budget, instead of `window_seconds`.' }),
    real_only: z.boolean().nullish().meta({
      description: 'Of `usd`: leaves the sandbox out, as budgets of the organization do. Default: false.',
    }),
  })
  .meta({ id: 'LimitQuestion' })

const LimitPreview = z
  .strictObject({
    from: dateTime.meta({
      description: '7 days ago; later where there were too many requests to try them all.',
    }),
    to: dateTime,
    is_complete: z.boolean().meta({
      description: `False: there were more than ${MAX_REQUESTS} requests, of which the newest were tried.`,
    }),
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
    'Returns how many requests of the last 7 days a rate limit, quota, budget or bound of running requests would have refused, without storing it. Windows of seconds are counted from the full minute, hour or day.',
  access: { role: 'viewer', of: 'environment' },
  body: LimitQuestion,
  response: { 200: LimitPreview },
  audit: 'none',
  handle: async ({ services: { db, clock }, resource, body }) => {
    const { scope, metric } = body
    assertWindow(body)
    const owner = { org_id: resource.org_id, project_id: resource.project_id, environment_id: resource.id }
    const scopeRef = await parseScopeRef(db, owner, scope, body.scope_ref ?? null)
    const now = clock.now()
    const since = new Date(now - TRIED_MS)
    const rule = { environmentId: resource.id, scope, scopeRef, limit: body.limit }
    const { requests, refused, affected, oldest, isWhole } =
      metric === 'concurrency'
        ? await countConcurrencyRefusals(db, rule, since)
        : await countRefusals(db, { ...rule, ...(await toMetered(db, resource.org_id, metric, body)) }, since)
    return {
      from: (isWhole || oldest === null ? since : oldest).toISOString(),
      to: new Date(now).toISOString(),
      is_complete: isWhole,
      requests,
      refused,
      affected,
    }
  },
})

type Question = z.output<typeof LimitQuestion>

/** Checks what the schema cannot express. */
function assertWindow({ metric, limit, window, window_seconds, real_only }: Question): void {
  if (metric === 'concurrency') {
    if (window == null && window_seconds == null) return assertWhole(limit)
    throw refusal('metric', 'The metric concurrency has no window.')
  }
  if ((window == null) === (window_seconds == null)) {
    throw refusal('window', 'Exactly one of window and window_seconds is needed.')
  }
  if (metric !== 'usd') {
    if (real_only === true) throw refusal('real_only', 'real_only must be absent without the metric usd.')
    return assertWhole(limit)
  }
  if (!usdField.safeParse(Math.min(limit, MAX_USD)).success)
    throw refusal('limit', 'limit must have at most nine decimals.')
  if (window_seconds != null) throw refusal('window_seconds', 'Budgets have a window by the calendar.')
}

function assertWhole(limit: number): void {
  if (!Number.isInteger(limit)) throw refusal('limit', 'limit must be a whole number.')
}

async function toMetered(
  db: Db,
  orgId: string,
  metric: 'requests' | 'tokens' | 'usd',
  { limit, window, window_seconds, real_only }: Question,
): Promise<Pick<TriedRule, 'metric' | 'limit' | 'window' | 'timeZone' | 'excludesSandbox'>> {
  const { time_zone: timeZone } = orResourceNotFound(await findOrganization(db, orgId))
  return {
    metric: metric === 'usd' ? 'nano_usd' : metric,
    limit: metric === 'usd' ? toNanoUsd(Math.min(limit, MAX_USD)) : limit,
    window: window ?? window_seconds ?? 60,
    timeZone,
    excludesSandbox: real_only === true,
  }
}

function refusal(param: string, message: string): Fault {
  return new Fault('invalid_request', message, { param })
}
