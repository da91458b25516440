import { Fault } from '../../core/fault.ts'
import type { UsageGroup } from '../../storage/usage.ts'
import { dateTimeField, toDate } from '../operation/fields.ts'
import { pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'

const GROUPS: ReadonlyMap<string, UsageGroup> = new Map([
  ['model', 'model'],
  ['provider', 'provider'],
  ['key', 'key_id'],
  ['end_user', 'end_user_id'],
  ['environment', 'environment_id'],
])

const names = [...GROUPS.keys()].join('|')

export const UsageQuery = z.strictObject({
  ...pageQuery,
  from: dateTimeField
    .optional()
    .meta({ description: 'The whole bucket of this time counts. Default: 30 days before `to`.' }),
  to: dateTimeField
    .optional()
    .meta({ description: 'The last bucket begins before this time. Default: now.' }),
  granularity: z.enum(['hour', 'day']).optional().meta({
    description: "Hours are in UTC, days in the organization's time zone. Default: `day`.",
  }),
  group_by: z
    .string()
    .regex(new RegExp(`^(${names})(,(${names}))*$`), `must be names of ${names}, separated by commas`)
    .optional()
    .meta({
      description: 'One or more of model, provider, key, end_user and environment, such as `model,key`.',
    }),
})

const DAY_MS = 86_400_000
const DEFAULT_DAYS = 30
const MOST_DAYS = 366

/** Returns the query with its defaults. A cursor is bound to the query as sent, because the defaults change with time. */
export function readUsageQuery(query: z.output<typeof UsageQuery>, now: number) {
  const to = toDate(query.to) ?? new Date(now)
  const from = toDate(query.from) ?? new Date(to.getTime() - DEFAULT_DAYS * DAY_MS)
  if (from.getTime() > to.getTime()) {
    throw new Fault('request_validation_failed', 'from must not be later than to.', { param: 'from' })
  }
  if (to.getTime() - from.getTime() > MOST_DAYS * DAY_MS) {
    throw new Fault(
      'request_validation_failed',
      `The time from "from" to "to" must be at most ${MOST_DAYS} days.`,
      { param: 'from' },
    )
  }
  const groups = new Set((query.group_by ?? '').split(',').filter(name => name !== ''))
  return {
    from,
    to,
    granularity: query.granularity ?? 'day',
    groups: [...groups].flatMap(name => GROUPS.get(name) ?? []),
  }
}
