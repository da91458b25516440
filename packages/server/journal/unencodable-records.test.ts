import { expect, test } from 'vitest'
import type { RequestRecord } from '../core/records/request-record.ts'
import { folderOf, openDrain, openTable, record } from './testing/open-drain.ts'

test('stores the owner and the cost of a record without JSON, and the whole records of the same tick', async () => {
  const table = openTable()
  const folder = folderOf()
  const { drain } = openDrain(folder, table)
  const at = '2026-11-21T10:00:00.000Z'
  const circular: Record<string, unknown> = {}
  circular.itself = circular
  const broken = {
    ...{ id: 'b', at, org_id: 'org', status: 200, cost_nano_usd: 12n, model: 'm'.repeat(1e6) },
    ...{ metadata: circular, attempts: [circular], request_body: null },
    get response_body(): string {
      throw new Error('no body')
    },
  }
  await Promise.all(
    [record('a'), broken as unknown as RequestRecord, record('c')].map(each => drain.write(each)),
  )
  await drain.flush()
  expect([...table.rows.keys()]).toEqual(['a', 'b', 'c'])
  const stored = JSON.parse(table.rows.get('b')?.json ?? '')
  expect(stored).toMatchObject({ id: 'b', at, org_id: 'org', status: 200, cost_nano_usd: 12, attempts: [] })
  expect(stored.model.length).toBeLessThan(200)
  // The drain goes on.
  await drain.write(record('d'))
  await drain.flush()
  expect([...table.rows.keys()]).toEqual(['a', 'b', 'c', 'd'])
})

test('sets aside a record without JSON and without an id, and stores the others', async () => {
  const table = openTable()
  const { drain } = openDrain(folderOf(), table)
  const broken = { cost_nano_usd: 12n } as unknown as RequestRecord
  await Promise.all([drain.write(broken), drain.write(record('a'))])
  await drain.flush()
  // The database refuses a record with an empty id, and records.ts sets it aside.
  expect([...table.rows.values()].map(({ id }) => id)).toEqual(['', 'a'])
  expect(table.rows.get('')?.json).toBe('{"cost_nano_usd":12,"attempts":[]}')
})
