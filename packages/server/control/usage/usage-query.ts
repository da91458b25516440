import { Fault } from '../../core/fault.ts'
import type { UsageGroup } from '../../storage/usage.ts'
import { dateTimeField, integerParam, textParam, toDate, uuidField } from '../operation/fields.ts'
import { pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'

const GROUPS: ReadonlyMap<string, UsageGroup> = new Map([
  ['model', 'model'],
  ['provider', 'provider'],
  ['key', 'key_id'],
  ['end_user', 'end_user_id'],
  ['environment', 'environment_id'],
  ['project', 'project_id'],
])

const names = [...GROUPS.keys()].join('|')

const MOST_ROWS = 10_000

export const UsageQuery = z.strictObject({
  cursor: pageQuery.cursor,
  limit: integerParam(1, MOST_ROWS).optional().meta({
    description: 'Page size. Default: 20. Large enough for a chart of many groups in one call.',
  }),
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
      description:
        'One or more of model, provider, key, end_user, environment and project, such as `model,key`.',
    }),
  top: integerParam(1, 100).optional().meta({
    description:
      'With `group_by`: only so many groups, those that cost most in the whole time, have rows of their own. The others are summed in rows with `other: true`.',
  }),
  model: textParam(544).optional().meta({ description: 'Only requests that this model answered.' }),
  provider: textParam(64).optional().meta({ description: 'Only requests that this provider answered.' }),
  key_id: uuidField.optional().meta({ description: 'Only requests with this key.' }),
  end_user_id: textParam(255).optional().meta({ description: 'Only requests of this end user.' }),
})

const DAY_MS = 86_400_000
const DEFAULT_DAYS = 30
const MOST_DAYS = 366
/** Ranking reads each end user of the time. */
const MOST_DAYS_OF_TOP_END_USERS = 32

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
  const { top, model, provider, key_id, end_user_id } = query
  const groups = new Set((query.group_by ?? '').split(',').filter(name => name !== ''))
  if (top !== undefined) {
    if (groups.size === 0) {
      throw new Fault('request_validation_failed', '"top" needs "group_by".', { param: 'top' })
    }
    const mostMs = MOST_DAYS_OF_TOP_END_USERS * DAY_MS
    if (groups.has('end_user') && to.getTime() - from.getTime() > mostMs) {
      throw new Fault(
        'request_validation_failed',
        `With "top" by end user the time must be at most ${MOST_DAYS_OF_TOP_END_USERS} days.`,
        { param: 'from' },
      )
    }
  }
  const only = Object.entries({ model, provider, key_id, end_user_id }).filter(
    ([, value]) => value !== undefined,
  )
  return {
    from,
    to,
    granularity: query.granularity ?? 'day',
    groups: [...groups].flatMap(name => GROUPS.get(name) ?? []),
    only: Object.fromEntries(only),
    ...(top === undefined ? {} : { top }),
  }
}
