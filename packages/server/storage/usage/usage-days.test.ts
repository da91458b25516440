import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { calendarBoundsAt } from '../../core/tenancy/windows.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import { addOrganization, addProject, newId } from '../../testing/harness/storage-rows.ts'
import type { EnvironmentRow } from '../schema.ts'
import { listUsage } from './usage.ts'

const HOUR_MS = 3_600_000

/** Days of 23 and 25 hours (Lord Howe: 23.5 and 24.5) in the north and the south, and where midnight itself is skipped or comes twice. */
const CHANGES: readonly (readonly [zone: string, date: string])[] = [
  ['America/New_York', '2026-03-08'],
  ['America/New_York', '2026-11-01'],
  ['Europe/Berlin', '2026-03-29'],
  ['Europe/Berlin', '2026-10-25'],
  ['Australia/Sydney', '2026-04-05'],
  ['Australia/Sydney', '2026-10-04'],
  ['Pacific/Auckland', '2026-04-05'],
  ['Pacific/Auckland', '2026-09-27'],
  ['Australia/Lord_Howe', '2026-04-05'],
  ['Australia/Lord_Howe', '2026-10-04'],
  ['America/Santiago', '2026-04-04'],
  ['America/Santiago', '2026-09-06'],
  ['America/Havana', '2026-03-08'],
  ['America/Havana', '2026-11-01'],
]

describe.each(listTestServers())('usage by day on $label', server => {
  let database: FreshDatabase
  beforeAll(async () => {
    database = await freshDatabase(server)
  })
  afterAll(() => database.drop())

  /** Inserts a request for each of `times` and returns an environment of an organization in the time zone. */
  async function seed(timeZone: string, times: readonly number[]): Promise<EnvironmentRow> {
    const organization = await addOrganization(database.db, { time_zone: timeZone })
    const project = await addProject(database.db, organization)
    const environment = { id: newId(), org_id: organization.id, project_id: project.id } as EnvironmentRow
    const records = times.map(at => requestRecord(environment, newId(), at, { sandbox: false }))
    expect(await insertRecords(database.pool, records)).toEqual({ rejected: [] })
    return environment
  }
  const count = async ({ org_id }: EnvironmentRow, timeZone: string, from: number, to: number) => {
    const rows = await listUsage(
      database.db,
      { orgId: org_id, from: new Date(from), to: new Date(to), granularity: 'day', timeZone, groups: [] },
      { limit: 100, after: undefined },
    )
    return rows.map(row => row.requests).reverse()
  }

  test.each(CHANGES)(
    'beside the change of the clocks in %s on %s are those that the time asks for',
    async (zone, date) => {
      // The day before the change has one request, the day of the change two, the next three and the one after it four.
      const starts = [calendarBoundsAt('day', Date.parse(`${date}T12:00:00Z`) - 24 * HOUR_MS, zone).start]
      while (starts.length < 5) starts.push(calendarBoundsAt('day', starts.at(-1) as number, zone).end)
      const [first, changed, next, , last] = starts as [number, number, number, number, number]
      const times = [1, 2, 2, 3, 3, 3, 4, 4, 4, 4].map(day => (starts[day - 1] as number) + 12 * HOUR_MS)
      const environment = await seed(zone, times)
      for (const [index, requests] of [[1, 2, 3, 4], [2, 3, 4], [3, 4], [4]].entries()) {
        const [start, end] = starts.slice(index) as [number, number]
        for (const from of [start, start + 1, start + 12 * HOUR_MS, end - 30 * 60_000, end - 1]) {
          const counted = await count(environment, zone, from, last)
          expect([new Date(from), counted]).toEqual([new Date(from), requests])
        }
      }
      // Times that follow one another count each day once.
      expect(await count(environment, zone, first, next)).toEqual([1, 2])
      expect(await count(environment, zone, changed, next)).toEqual([2])
      expect(await count(environment, zone, next, last)).toEqual([3, 4])
    },
  )

  test('of an earlier time zone of the organization count in the 24 hours from their start', async () => {
    const start = Date.parse('2026-06-09T18:30:00Z')
    const environment = await seed('Asia/Kolkata', [start, start + 30 * HOUR_MS])
    const to = start + 100 * HOUR_MS
    for (const timeZone of ['UTC', 'America/New_York', 'Pacific/Auckland']) {
      expect(await count(environment, timeZone, start + 24 * HOUR_MS - 1, to)).toEqual([1, 1])
      expect(await count(environment, timeZone, start + 24 * HOUR_MS, to)).toEqual([1])
    }
  })

  test('of an earlier time zone count so beside a change of the clocks too', async () => {
    const start = Date.parse('2026-11-01T18:30:00Z')
    const environment = await seed('Asia/Kolkata', [start - 24 * HOUR_MS, start])
    const to = start + 100 * HOUR_MS
    // New York's 1 November lasts from 04:00 to 05:00 of the next day.
    expect(await count(environment, 'America/New_York', start - 1, to)).toEqual([1, 1])
    expect(await count(environment, 'America/New_York', start, to)).toEqual([1])
  })
})
