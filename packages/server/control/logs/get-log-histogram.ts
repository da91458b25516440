import { Fault } from '../../core/fault.ts'
import { countLogs, MAX_COUNTED } from '../../storage/records/log-histogram.ts'
import { dateTime } from '../operation/fields.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'
import { LogFilterQuery, loadLogFilter } from './log-query.ts'

const DAY_MS = 86_400_000
const MAX_DAYS = 366
const MAX_BUCKETS = 62
const MINUTES = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 10_080]

const LogHistogram = z
  .strictObject({
    data: z
      .array(z.strictObject({ at: dateTime, requests: z.int(), errors: z.int() }))
      .meta({ description: 'Every bucket of the time, oldest first. `errors`: statuses from 400 on.' }),
    bucket_seconds: z.int(),
    from: dateTime.meta({ description: 'Since when they are counted.' }),
    to: dateTime,
    is_complete: z.boolean().meta({
      description: `False: at least ${MAX_COUNTED} requests match, of which the newest are counted.`,
    }),
  })
  .meta({ id: 'LogHistogram' })

export const getLogHistogram = defineOperation('GET /v1/environments/{envId}/logs/histogram', {
  name: 'logs.get_histogram',
  summary: "An environment's requests that match the filters of its log, counted over time.",
  access: { role: 'viewer', of: 'environment' },
  query: LogFilterQuery,
  response: { 200: LogHistogram },
  handle: async ({ services: { db, clock }, resource, query }) => {
    const filter = await loadLogFilter(db, resource.id, query)
    const to = filter.to ?? new Date(clock.now())
    const from = filter.from ?? new Date(to.getTime() - DAY_MS)
    const spanMs = to.getTime() - from.getTime()
    if (spanMs < 0 || spanMs > MAX_DAYS * DAY_MS) {
      const message = `The time from "from" to "to" must be between 0 and ${MAX_DAYS} days.`
      throw new Fault('request_validation_failed', message, { param: 'from' })
    }
    const bucketMs = chooseBucket(spanMs)
    const { buckets, oldest } = await countLogs(db, resource.id, { ...filter, from, to }, bucketMs)
    const counted = new Map(buckets.map(bucket => [bucket.at, bucket]))
    const data = []
    const first = Math.floor(from.getTime() / bucketMs) * bucketMs
    for (let at = first; at < to.getTime(); at += bucketMs) {
      const { requests = 0, errors = 0 } = counted.get(at) ?? {}
      data.push({ at: new Date(at).toISOString(), requests, errors })
    }
    return {
      data,
      bucket_seconds: bucketMs / 1000,
      from: (oldest ?? from).toISOString(),
      to: to.toISOString(),
      is_complete: oldest === undefined,
    }
  },
})

/** The shortest usual time that cuts the span into few enough buckets, in milliseconds. */
function chooseBucket(spanMs: number): number {
  const chosen = MINUTES.find(minutes => spanMs / (minutes * 60_000) < MAX_BUCKETS - 1)
  return (chosen ?? 10_080) * 60_000
}
