import { toUsd } from '@rideau/llm/usage/money'
import { listMeters } from '../../core/limits/list-meters.ts'
import type { Meter } from '../../core/limits/meter.ts'
import type { MeteredCaller } from '../../core/limits/policy-scopes.ts'
import type { Policies } from '../../core/tenancy/policies.ts'
import { findEnvironmentPolicies } from '../../storage/policies/environment-policies.ts'
import { dateTime, uuid } from '../operation/fields.ts'
import type { Services } from '../operation/operation.ts'
import { orResourceNotFound } from '../operation/or-not-found.ts'
import { cutInOrder, listOf, type PageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'

const WINDOWS = ['hour', 'day', 'week', 'month', 'total'] as const

const EffectiveLimit = z
  .strictObject({
    kind: z.enum(['limit', 'quota', 'budget', 'plan']),
    id: uuid.meta({ description: 'Of the limit, quota, budget or plan.' }),
    scope: z.enum(['org', 'project', 'environment', 'key', 'end_user']).meta({
      description: 'Whose requests count together.',
    }),
    metric: z.enum(['requests', 'tokens', 'usd', 'concurrency']),
    limit: z.number().meta({ description: 'Without the grace of a quota; US dollars for `usd`.' }),
    window: z.enum(WINDOWS).nullable().meta({ description: 'Of quotas, budgets and plans.' }),
    window_seconds: z.int().nullable().meta({ description: 'Of rate limits.' }),
    used: z.number().nullable().meta({
      description:
        'By ended requests in the current window; null where the control plane cannot ask a gateway.',
    }),
    reserved: z.number().nullable().meta({ description: 'By running requests; null where `used` is.' }),
    resets_at: dateTime.nullable().meta({ description: 'null: it slides, or never ends.' }),
    error_code: z.string().meta({ description: 'What a request beyond it is answered with.' }),
    excludes_sandbox: z.boolean(),
  })
  .meta({ id: 'EffectiveLimit' })

export const EffectiveLimits = listOf(EffectiveLimit)
  .extend({
    plan: z
      .string()
      .nullable()
      .meta({ description: 'The plan of the end user, its own or the default one.' }),
    note: z.string().nullable().meta({ description: 'What binds besides, that this list cannot show.' }),
  })
  .meta({ id: 'EffectiveLimits' })

type Limits = Omit<z.output<typeof EffectiveLimits>, 'note'>

/**
 * Returns the rules that bind the requests of a caller now, with their usage, or the asked page of them. The gateway derives
 * them by the same function.
 */
export async function getEffectiveLimits(
  { db, clock, readMeters }: Pick<Services, 'db' | 'clock' | 'readMeters'>,
  query: PageQuery,
  binding: readonly unknown[],
  caller: MeteredCaller,
): Promise<Limits> {
  const policies = orResourceNotFound(await findEnvironmentPolicies(db, caller.environmentId))
  const now = clock.now()
  const { meters, plan } = listMeters(policies, caller, now)
  const statuses = await readMeters?.(meters, now)
  const limits = meters.map((meter, index) => toEffectiveLimit(meter, policies, statuses?.[index]))
  return {
    ...cutInOrder(query, binding, limits, ({ kind, id, metric }) => `${kind} ${id} ${metric}`),
    plan: plan?.name ?? null,
  }
}

function toEffectiveLimit(
  meter: Meter,
  policies: Policies,
  status: { readonly settled: number; readonly reserved: number } | undefined,
): z.output<typeof EffectiveLimit> {
  const { source, subject, metric, nominalLimit } = meter
  const toAmount = (amount: number) => (metric === 'nano_usd' ? (toUsd(amount) ?? 0) : amount)
  return {
    kind: source.kind,
    id: source.id,
    scope: source.scope,
    metric: metric === 'nano_usd' ? 'usd' : metric === 'in_flight' ? 'concurrency' : metric,
    limit: toAmount(nominalLimit),
    window: windowOf(meter, policies),
    window_seconds: meter.kind === 'rolling' ? meter.windowMs / 1000 : null,
    used: status === undefined ? null : toAmount(status.settled),
    reserved: status === undefined ? null : toAmount(status.reserved),
    resets_at: meter.kind === 'fixed' && meter.end !== null ? new Date(meter.end).toISOString() : null,
    error_code: source.code,
    excludes_sandbox: subject.excludesSandbox,
  }
}

function windowOf({ kind, metric, source }: Meter, policies: Policies): (typeof WINDOWS)[number] | null {
  if (kind !== 'fixed') return null
  if (source.kind === 'plan') return metric === 'tokens' ? 'day' : 'month'
  const owners = source.kind === 'quota' ? policies.quotas : policies.budgets
  return owners.find(({ id }) => id === source.id)?.window ?? null
}
