import { Fault } from '../../core/fault.ts'
import { countErrors, MAX_FAILURES } from '../../storage/records/error-counts.ts'
import { dateTime, dateTimeField, toDate, uuid } from '../operation/fields.ts'
import { defineOperation } from '../operation/operation.ts'
import { cutInOrder, listOf, wholeListQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'

const DAY_MS = 86_400_000
const MAX_DAYS = 31

const ErrorCount = z
  .strictObject({
    error_code: z.string(),
    // Present if `group_by` names it.
    provider: z.string().nullable().optional(),
    model: z.string().nullable().optional(),
    requests: z.int(),
    last_at: dateTime,
    request_id: uuid.meta({ description: 'X-Request-Id of the latest.' }),
  })
  .meta({ id: 'ErrorCount' })

const ErrorCounts = listOf(ErrorCount)
  .extend({
    data: z.array(ErrorCount).meta({ description: 'Of at most 100, most frequent first.' }),
    from: dateTime.meta({ description: 'Since when they are counted.' }),
    to: dateTime,
    is_complete: z.boolean().meta({
      description: `False: there were more than ${MAX_FAILURES} failed requests, of which the newest are counted.`,
    }),
  })
  .meta({ id: 'ErrorCounts' })

export const listErrors = defineOperation('GET /v1/environments/{envId}/errors', {
  name: 'logs.list_errors',
  summary: "An environment's failed requests by error code, most frequent first.",
  access: { role: 'viewer', of: 'environment' },
  query: z.strictObject({
    ...wholeListQuery,
    from: dateTimeField.optional().meta({ description: 'Default: 24 hours before `to`.' }),
    to: dateTimeField.optional().meta({ description: 'Default: now.' }),
    group_by: z
      .enum(['provider', 'model', 'provider,model'])
      .optional()
      .meta({ description: 'Counts each code apart by these.' }),
  }),
  response: { 200: ErrorCounts },
  handle: async ({ services: { db, clock }, resource, query }) => {
    const to = toDate(query.to) ?? new Date(clock.now())
    const from = toDate(query.from) ?? new Date(to.getTime() - DAY_MS)
    const isInOrder = from.getTime() <= to.getTime()
    if (!isInOrder || to.getTime() - from.getTime() > MAX_DAYS * DAY_MS) {
      const message = `The time from "from" to "to" must be between 0 and ${MAX_DAYS} days.`
      throw new Fault('request_validation_failed', message, { param: 'from' })
    }
    const groups = (query.group_by?.split(',') ?? []) as ('provider' | 'model')[]
    const { rows, oldest } = await countErrors(db, { environmentId: resource.id, from, to, groups })
    const counts = rows.map(({ error_code, provider, model, requests, last_at, request_id }) => ({
      error_code,
      ...(provider === undefined ? {} : { provider }),
      ...(model === undefined ? {} : { model }),
      requests,
      last_at: last_at.toISOString(),
      request_id,
    }))
    // The times as they were given: those that are not move on between two pages.
    const binding = ['logs.list_errors', resource.id, query.from ?? null, query.to ?? null, groups]
    const page = cutInOrder(query, binding, counts, ({ error_code, provider, model }) =>
      JSON.stringify([error_code, provider, model]),
    )
    return {
      ...page,
      from: (oldest ?? from).toISOString(),
      to: to.toISOString(),
      is_complete: oldest === undefined,
    }
  },
})
