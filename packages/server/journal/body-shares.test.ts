import { expect, test } from 'vitest'
import type { RequestRecord } from '../core/records/request-record.ts'
import type { EnvironmentRow } from '../storage/schema.ts'
import { requestRecord } from '../testing/harness/request-record.ts'
import { BodyShares } from './body-shares.ts'
import { Drain } from './drain.ts'
import { openJournal } from './journal.ts'
import { folderOf, NEVER_MS, openTable, silent } from './testing/open-drain.ts'

const BODY = 'x'.repeat(20_000)
const MAX_QUEUED_CHARS = 400_000

function open() {
  const folder = folderOf()
  const table = openTable()
  const journal = openJournal(folder, { onError: () => {} })
  const drain = new Drain({
    ...{ folder, journal, log: silent, insert: table.insert, flushEveryMs: NEVER_MS },
    maxQueuedChars: MAX_QUEUED_CHARS,
  })
  const recordOf = (orgId: string, id: string): RequestRecord =>
    requestRecord({ id: 'e', org_id: orgId, project_id: 'p' } as EnvironmentRow, id, 0, {
      ...{ sandbox: false, request_body: BODY, metadata: { k: 'v' } },
    })
  const write = async (orgId: string, ...ids: string[]): Promise<void> => {
    for (const id of ids) await drain.write(recordOf(orgId, id))
  }
  const stored = (id: string): RequestRecord => JSON.parse(table.rows.get(id)?.json ?? '')
  return { drain, journal, table, recordOf, write, stored }
}

const idsOf = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${name}${at}`)

test('an organization that fills the memory leaves no bodies until it drains: nothing overflows, and others keep theirs', async () => {
  const { drain, journal, table, recordOf, write, stored } = open()
  const flood = idsOf('flood', 100)
  table.break()
  await write('flood', ...flood)
  await write('other', 'other')
  // All are in memory, though with their bodies they are five times as long as it is.
  expect(drain.backlog()).toBe(101)
  const before = journal.bytes()
  drain.open(recordOf('flood', 'opened'))
  expect(journal.bytes() - before).toBeLessThan(BODY.length)
  await write('flood', 'opened')
  table.restore()
  await drain.flush()
  expect(flood.filter(id => stored(id).request_body !== null).length).toBeGreaterThan(5)
  for (const id of ['flood99', 'opened'])
    expect(stored(id)).toMatchObject({ request_body: null, metadata: { k: 'v' }, cost_nano_usd: 1_234_567 })
  for (const id of flood) expect(stored(id).cost_nano_usd).toBe(1_234_567)
  expect(stored('other').request_body).toBe(BODY)
  await write('flood', 'later')
  await drain.flush()
  expect(stored('later').request_body).toBe(BODY)
  await drain.close()
})

test('many organizations together leave fewer bodies each, and every priced record is stored', async () => {
  const { drain, table, write, stored } = open()
  const orgIds = idsOf('org', 20)
  table.break()
  for (const orgId of orgIds) await write(orgId, ...idsOf(`${orgId} `, 30))
  table.restore()
  await drain.flush()
  expect(table.rows.size).toBe(600)
  // Each has some room, however little is left.
  for (const orgId of orgIds) expect(stored(`${orgId} 0`).request_body).toBe(BODY)
  expect(stored('org19 29')).toMatchObject({ request_body: null, cost_nano_usd: 1_234_567 })
  await drain.close()
})

test('who writes a hundredth of a long flood keeps its bodies to the end, and who causes it does not', () => {
  const shares = new BodyShares({ maxChars: 64_000, countChars: () => 40_000, hasUnread: () => true })
  for (let record = 1; record <= 100_000; record++) {
    shares.note('flood', 100)
    if (record % 100 > 0) continue
    shares.note('other', 100)
    expect([shares.isUsedUp('flood'), shares.isUsedUp('other')]).toEqual([record >= 300, false])
  }
})
