import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { QueueRoom } from '../core/queue-room.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../testing/harness/database.ts'
import { explainOn, recordQueries, type SentStatement } from '../testing/harness/explain.ts'
import { roomFor } from '../testing/harness/queue-room.ts'
import { addTree, CREATED, newId } from '../testing/harness/storage-rows.ts'
import { claimDueDeliveries, DELIVERIES } from './events/webhook-deliveries.ts'
import { claimDueRefreshes, REFRESHES } from './models/model-list-refreshes.ts'
import type { Db } from './pool.ts'
import { DueOwners, selectInTurns } from './queue-turns.ts'

const NOW = CREATED.getTime()
const QUEUE = { table: 'queue', dueAt: 'run_at' }

interface Item {
  readonly id: string
  readonly org_id: string
  /** Milliseconds; null: it waits no more. */
  readonly at: number | null
}

/** The order of turns as its rules say it, from all items. */
function chooseInTurns(items: readonly Item[], room: QueueRoom): string[] {
  const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0)
  const turns = new Map(room.running)
  const isSlow = ({ org_id }: Item): boolean => room.slow.includes(org_id)
  const places = { slow: 0, other: 0 }
  return items
    .flatMap(item => (item.at !== null && item.at <= NOW ? [{ ...item, at: item.at }] : []))
    .sort((a, b) => compare(a.at, b.at) || compare(a.id, b.id))
    .map(item => {
      const turn = (turns.get(item.org_id) ?? 0) + 1
      turns.set(item.org_id, turn)
      return { ...item, turn }
    })
    .sort((a, b) => a.turn - b.turn || compare(a.at, b.at) || compare(a.id, b.id))
    .map(item => ({ ...item, place: ++places[isSlow(item) ? 'slow' : 'other'] }))
    .filter(item => item.turn <= room.ofOrganization && (!isSlow(item) || item.place <= room.slowLimit))
    .map((item, index) => ({ ...item, index, isLast: isSlow(item) && item.place > room.slowShare }))
    .sort((a, b) => Number(a.isLast) - Number(b.isLast) || a.index - b.index)
    .slice(0, room.limit)
    .map(({ id }) => id)
}

describe.each(listTestServers())('turns of a queue on $label', server => {
  let database: FreshDatabase
  let db: Db
  beforeAll(async () => {
    database = await freshDatabase(server)
    db = database.db
    await database.pool.query(
      'create table queue (id uuid primary key, org_id uuid not null, run_at timestamptz)',
    )
    await database.pool.query('create index on queue (org_id, run_at, id) where run_at is not null')
    await database.pool.query('create index on queue (run_at) where run_at is not null')
  })
  afterAll(() => database.drop())

  const chooseFrom = async (on: Db, owners: DueOwners, now: number, room: QueueRoom): Promise<string[]> => {
    const organizations = await owners.list(on, now)
    const turns = selectInTurns(QUEUE, organizations, new Date(now), room)
    const { rows } = await sql<{ id: string }>`${turns}`.execute(on)
    return rows.map(row => row.id)
  }
  const choose = (room: QueueRoom): Promise<string[]> => chooseFrom(db, new DueOwners(QUEUE), NOW, room)
  const explainAll = (statements: readonly SentStatement[]): Promise<string> =>
    db.transaction().execute(async tx => {
      const plans: string[] = []
      for (const statement of statements) plans.push(await explainOn(tx, 'custom', statement))
      return plans.join('\n')
    })
  /** The most rows of a step of these statements. */
  const countMostRows = async (statements: readonly SentStatement[]): Promise<number> => {
    const rows = [...(await explainAll(statements)).matchAll(/rows=([\d.]+) loops=(\d+)/g)].map(
      ([, each, loops]) => Number(each) * Number(loops),
    )
    expect(rows).not.toHaveLength(0)
    return Math.max(...rows)
  }

  // Above a thousand due items their organizations are found along the index.
  test.each([0, 30, 999, 1_000, 3_000])('are those of the rules, of %i items', async count => {
    const owners = Array.from({ length: 7 }, newId)
    // A few own most items; times repeat, and some items wait no more or are not due yet.
    const items: Item[] = Array.from({ length: count }, (_, n) => ({
      id: newId(),
      org_id: owners[Math.floor(7 * ((n * 0.618) % 1) ** 3)] as string,
      at: n % 11 === 0 ? null : NOW - 5 + (n % 7),
    }))
    await database.pool.query('truncate queue')
    await database.pool.query(
      'insert into queue select id, org_id, to_timestamp(at / 1000) from jsonb_to_recordset($1) as r(id uuid, org_id uuid, at float8)',
      [JSON.stringify(items)],
    )
    const [first = '', second = '', third = '', fourth = ''] = owners
    const rooms = [
      roomFor(5),
      roomFor(64, { ofOrganization: 4, running: new Map([[first, 2]]) }),
      roomFor(20, { slow: [first, third], slowLimit: 6, slowShare: 2, ofOrganization: 16 }),
      roomFor(128, {
        slow: [second],
        slowLimit: 3,
        ofOrganization: 8,
        running: new Map([
          [first, 9],
          [second, 1],
          [fourth, 8],
        ]),
      }),
    ]
    for (const room of rooms) expect(await choose(room)).toEqual(chooseInTurns(items, room))
  })

  test('pass over items that another claim has locked, but count them', async () => {
    const [busy, other] = [newId(), newId()]
    const ids = Array.from({ length: 5 }, newId)
    await database.pool.query('truncate queue')
    for (const [n, id] of ids.entries())
      await database.pool.query('insert into queue values ($1, $2, to_timestamp($3))', [
        id,
        n < 4 ? busy : other,
        NOW / 1000 - 10 + n,
      ])
    await database.db.transaction().execute(async tx => {
      await sql`select from queue where id = ${ids[0]} for update`.execute(tx)
      expect(await choose(roomFor(10, { ofOrganization: 2 }))).toEqual([ids[4], ids[1]])
    })
  })

  test('a further claim within a second reads the organizations with due items only', async () => {
    const [busy, quiet, late] = [newId(), newId(), newId()]
    const add = (count: number, owner: string, at: number) =>
      database.pool.query(
        `insert into queue select gen_random_uuid(), ${owner}, to_timestamp($1) from generate_series(1, ${count})`,
        [at / 1000],
      )
    await database.pool.query('truncate queue')
    await add(3_000, 'gen_random_uuid()', NOW + 3_600_000)
    await add(1_200, `'${busy}'`, NOW - 10_000)
    await add(1, `'${quiet}'`, NOW - 1)
    await database.pool.query('analyze queue')
    const owners = new DueOwners(QUEUE)
    const room = roomFor(64, { ofOrganization: 16 })
    const claimAt = async (now: number) => {
      const sent: SentStatement[] = []
      const ids = await chooseFrom(recordQueries(db, sent), owners, now, room)
      const { rows } = await database.pool.query('select distinct org_id from queue where id = any($1)', [
        ids,
      ])
      return { found: rows.map(row => row.org_id as string).sort(), sent }
    }
    expect((await claimAt(NOW)).found).toEqual([busy, quiet].sort())
    await add(1, `'${late}'`, NOW)
    const { found, sent } = await claimAt(NOW + 999)
    expect(found).toEqual([busy, quiet].sort())
    expect(await countMostRows(sent)).toBeLessThan(2_000)
    expect((await claimAt(NOW + 1_000)).found).toEqual([busy, quiet, late].sort())
  })

  describe('among very many items of a few organizations', () => {
    const OF_EACH = 4_000
    beforeAll(async () => {
      for (let n = 0; n < 3; n++) {
        const { organization, project, environment } = await addTree(db)
        const webhookId = newId()
        await database.pool.query(
          `insert into webhooks (id, org_id, url, events, secret_cipher, created_at, updated_at)
            values ($1, $2, 'https://hooks.example', '{}', '', now(), now())`,
          [webhookId, organization.id],
        )
        await database.pool.query(
          `insert into webhook_deliveries (id, org_id, webhook_id, event, payload, next_attempt_at, created_at)
            select gen_random_uuid(), $1, $2, 'e', '{}', $3::timestamptz - i * interval '1 ms', $3
            from generate_series(1, ${OF_EACH}) as i`,
          [organization.id, webhookId, CREATED],
        )
        await database.pool.query(
          `insert into provider_credentials (id, org_id, project_id, environment_id, provider, name, secret_cipher, key_fingerprint,
              refresh_at, created_at, updated_at)
            select gen_random_uuid(), $1, $2, $3, 'openai', 'n', '', '', $4::timestamptz - i * interval '1 ms', $4, $4
            from generate_series(1, ${OF_EACH}) as i`,
          [organization.id, project.id, environment.id, CREATED],
        )
      }
      await database.pool.query('analyze')
    })

    const room = roomFor(48, { ofOrganization: 16 })
    test.each([
      [
        'webhook deliveries',
        (on: Db) => claimDueDeliveries(on, { now: () => NOW }, room, 1_000, new DueOwners(DELIVERIES)),
      ],
      ['model lists', (on: Db) => claimDueRefreshes(on, NOW, room, 1_000, new DueOwners(REFRESHES))],
    ])('a claim of %s reads the first ones of each', async (_, claim) => {
      const sent: SentStatement[] = []
      expect(await claim(recordQueries(db, sent))).toHaveLength(48)
      expect(await countMostRows(sent)).toBeLessThan(1_100)
    })
  })
})
