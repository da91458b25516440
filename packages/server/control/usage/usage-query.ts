import { Fault } from '../../core/fault.ts'
import type { UsageGroup } from '../../storage/usage/usage-filter.ts'
import { dateTimeField, integerParam, textParam, toDate, uuidField } from '../operation/fields.ts'
import { pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { timeZoneField } from '../organizations/organization-fields.ts'

const GROUPS: ReadonlyMap<string, UsageGroup> = new Map([
  ['model', 'model'],
  ['provider', 'provider'],
  ['key', 'key_id'],
  ['end_user', 'end_user_id'],
  ['environment', 'environment_id'],
  ['project', 'project_id'],
])

const names = [...GROUPS.keys()].join('|')

export const MAX_ROWS = 10_000

const DAY_MS = 86_400_000
const DEFAULT_DAYS = 30
const MAX_DAYS = 366
/** Ranking reads each end user of the time. */
const MAX_DAYS_OF_TOP_END_USERS = 32
/** They are summed from quarters of an hour. */
const MAX_DAYS_OF_OTHER_ZONES = 32

export const UsageQuery = z.strictObject({
  ...pageQuery,
  rows: integerParam(1, MAX_ROWS).optional().meta({
    description:
      'Page size instead of `limit`, for a whole series in one call, such as that of a chart with many groups. Not with `limit`.',
  }),
  from: dateTimeField
    .optional()
    .meta({ description: 'The whole bucket of this time counts. Default: 30 days before `to`.' }),
  to: dateTimeField
    .optional()
    .meta({ description: 'The last bucket begins before this time. Default: now.' }),
  granularity: z.enum(['hour', 'day', 'month', 'total']).optional().meta({
    description:
      'What a row sums; `total`: the whole time, by whole hours up to 8 days and else by whole days. Default: `day`.',
  }),
  time_zone: timeZoneField.optional().meta({
    description: `Whose hours, days and months are counted: a name of the IANA database. Default: the organization's, whose days are stored as such. For days, months and totals of another one the time must be at most ${MAX_DAYS_OF_OTHER_ZONES} days.`,
  }),
  fill: z
    .literal('zero')
    .optional()
    .meta({
      description: `Answers a row of zeros for each bucket in which a group has no requests, and all rows in one page of up to ${MAX_ROWS}.`,
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
  project_id: uuidField.optional().meta({ description: 'Only requests in this project.' }),
  environment_id: uuidField.optional().meta({ description: 'Only requests in this environment.' }),
})

/**
 * Returns the query with its defaults. A cursor is bound to the query as sent, because the defaults change with time.
 * `ownZone`: the organization's time zone.
 */
export function readUsageQuery(query: z.output<typeof UsageQuery>, now: number, ownZone: string) {
  if (query.rows !== undefined && query.limit !== undefined) {
    throw refusal('rows', '"rows" replaces "limit": send one of them.')
  }
  const to = toDate(query.to) ?? new Date(now)
  const from = toDate(query.from) ?? new Date(to.getTime() - DEFAULT_DAYS * DAY_MS)
  if (from.getTime() > to.getTime()) throw refusal('from', 'from must not be later than to.')
  const days = (to.getTime() - from.getTime()) / DAY_MS
  if (days > MAX_DAYS) {
    throw refusal('from', `The time from "from" to "to" must be at most ${MAX_DAYS} days.`)
  }
  const { top, granularity = 'day', time_zone: asked = ownZone } = query
  const timeZone = asked.toLowerCase() === ownZone.toLowerCase() ? ownZone : asked
  const isByQuarter = granularity === 'hour' || timeZone !== ownZone
  if (isByQuarter && granularity !== 'hour' && days > MAX_DAYS_OF_OTHER_ZONES) {
    throw refusal(
      'from',
      `In another time zone than the organization's, ${ownZone}, the time must be at most ${MAX_DAYS_OF_OTHER_ZONES} days.`,
    )
  }
  const groups = new Set((query.group_by ?? '').split(',').filter(name => name !== ''))
  if (top !== undefined) {
    if (groups.size === 0) throw refusal('top', '"top" needs "group_by".')
    if (groups.has('end_user') && days > MAX_DAYS_OF_TOP_END_USERS) {
      throw refusal(
        'from',
        `With "top" by end user the time must be at most ${MAX_DAYS_OF_TOP_END_USERS} days.`,
      )
    }
  }
  return {
    from,
    to,
    granularity,
    timeZone,
    isByQuarter,
    groups: [...groups].flatMap(name => GROUPS.get(name) ?? []),
    only: readOnly(query),
    ...(top === undefined ? {} : { top }),
  }
}

function readOnly(query: z.output<typeof UsageQuery>) {
  const { model, provider, key_id, end_user_id, project_id, environment_id } = query
  const only = Object.entries({ model, provider, key_id, end_user_id, project_id, environment_id })
  return Object.fromEntries(only.filter(([, value]) => value !== undefined))
}

function refusal(param: string, message: string): Fault {
  return new Fault('request_validation_failed', message, { param })
}
