import { randomUUID } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { type ExpireOptions, expireAnswers, type RemovedAnswers } from './expire-answers.ts'

const MIB = 1024 * 1024

interface NewAnswers {
  readonly orgId: string
  readonly environmentId?: string
  /** The numbers of the answers. A greater one is kept for longer, by a second, unless `stepSeconds` is 0. */
  readonly from?: number
  readonly to: number
  readonly step?: number
  readonly stepSeconds?: number
  readonly bytes?: number
  /** How long the answer 0 is kept; negative: it has expired. */
  readonly hours?: number
}

describe.each(listTestServers())('the removal of answers on $label', server => {
  let database: FreshDatabase
  beforeAll(async () => {
    database = await freshDatabase(server)
    // What each statement deletes: of which organizations, how many rows, and their bytes.
    await database.pool.query(`
      create table batches (number serial primary key, org_ids uuid[], rows integer, bytes bigint);
      create function note_batch() returns trigger language plpgsql as $$ begin
        insert into batches (org_ids, rows, bytes)
          select array_agg(distinct org_id), count(*), sum(answer_bytes) from gone having count(*) > 0;
        return null;
      end $$;
      create trigger note_batch after delete on idempotent_answers referencing old table as gone
        for each statement execute function note_batch();
      create table unremovable (org_id uuid primary key);
      create function refuse_removal() returns trigger language plpgsql as $$ begin
        if exists (select from unremovable u where u.org_id = old.org_id) then raise 'not now'; end if;
        return old;
      end $$;
      create trigger refuse_removal before delete on idempotent_answers for each row execute function refuse_removal()`)
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    await database.pool.query('truncate idempotent_answers, idempotency_owners, batches, unremovable')
  })

  const add = async (answers: NewAnswers): Promise<void> => {
    const { orgId, environmentId = orgId, from = 1, to, step = 1 } = answers
    const { stepSeconds = 1, bytes = 1_000, hours = 20 } = answers
    await database.pool.query(
      `insert into idempotent_answers (id, hash, org_id, environment_id, body_hash, owner, expires_at, answer_bytes, answer_cipher)
        select gen_random_uuid(), uuid_send($1) || int4send(n), $1, $2, '', $1,
            now() + $6 * interval '1 hour' + n * $7 * interval '1 second', $8, '\\x00'
          from generate_series($3::integer, $4::integer, $5::integer) n`,
      [orgId, environmentId, from, to, step, hours, stepSeconds, bytes],
    )
  }
  /** The numbers of an organization's answers. */
  const left = async (orgId: string): Promise<number[]> => {
    const text = 'select hash from idempotent_answers where org_id = $1 order by hash'
    const { rows } = await database.pool.query<{ hash: Buffer }>(text, [orgId])
    return rows.map(({ hash }) => hash.readInt32BE(16))
  }
  const listBatches = async (): Promise<{ org_ids: string[]; rows: number; bytes: number }[]> =>
    (await database.pool.query('select org_ids, rows, bytes from batches order by number')).rows
  const remove = async (options: Partial<ExpireOptions> = {}): Promise<RemovedAnswers> => {
    const removed = await expireAnswers(database.pool, { maxBytes: 4_000, rest: async () => {}, ...options })
    if (removed === undefined) throw new Error('another process removes answers')
    return removed
  }

  test('an organization above its share loses its oldest answers, of whichever environment they are, and no other does', async () => {
    const [large, small] = [randomUUID(), randomUUID()]
    for (const [from, environmentId] of [randomUUID(), randomUUID()].entries())
      await add({ orgId: large, environmentId, from, to: 5, step: 2 })
    await add({ orgId: small, to: 2, hours: 1 })
    expect(await remove()).toEqual({ expired: 0, surplus: 4, failures: [] })
    expect([await left(large), await left(small)]).toEqual([
      [4, 5],
      [1, 2],
    ])
    expect(await remove()).toEqual({ expired: 0, surplus: 0, failures: [] })
  })

  test('of answers that expire at once as many are removed as are too many', async () => {
    const orgId = randomUUID()
    await add({ orgId, to: 5, stepSeconds: 0 })
    expect(await remove()).toMatchObject({ surplus: 3 })
    expect(await left(orgId)).toHaveLength(2)
  })

  test('of very many answers exactly the newest that fit are left', async () => {
    const orgId = randomUUID()
    await add({ orgId, to: 23_500, bytes: 488 })
    expect(await remove({ maxBytes: 21_000_000 })).toEqual({ expired: 0, surplus: 2_500, failures: [] })
    const kept = await left(orgId)
    expect([kept.length, kept[0]]).toEqual([21_000, 2_501])
    expect((await listBatches()).map(({ rows }) => rows)).toEqual([1_000, 1_000, 500])
  })

  test('a statement deletes few of the largest answers', async () => {
    const [expired, surplus] = [randomUUID(), randomUUID()]
    await add({ orgId: expired, to: 20, bytes: 16 * MIB, hours: -2 })
    await add({ orgId: surplus, to: 20, bytes: 16 * MIB })
    expect(await remove()).toEqual({ expired: 20, surplus: 20, failures: [] })
    for (const { bytes } of await listBatches()) expect(bytes).toBeLessThanOrEqual(80 * MIB)
  })

  test('organizations take turns, with a rest after each statement', async () => {
    const orgIds = [randomUUID(), randomUUID()]
    for (const orgId of orgIds) await add({ orgId, to: 2_500 })
    const seen: number[] = []
    const rest = async (): Promise<void> => void seen.push((await listBatches()).length)
    expect(await remove({ rest })).toMatchObject({ surplus: 4_996 })
    const batches = await listBatches()
    for (let round = 0; round < 3; round++) {
      const turns = batches.slice(round * 2, round * 2 + 2).flatMap(batch => batch.org_ids)
      expect(turns.sort()).toEqual([...orgIds].sort())
    }
    expect([...new Set(seen)]).toEqual([0, 1, 2, 3, 4, 5, 6])
  })

  test('a run that is stopped ends after its current batch', async () => {
    await add({ orgId: randomUUID(), to: 2_500 })
    const closing = new AbortController()
    const rest = async (): Promise<void> => {
      if ((await listBatches()).length > 0) closing.abort()
    }
    expect(await remove({ signal: closing.signal, rest })).toMatchObject({ surplus: 1_000 })
  })

  describe('where answers of one organization cannot be removed', () => {
    afterEach(() => database.pool.query('truncate unremovable'))

    test('the surplus of the others is removed, and the failure names the organization', async () => {
      const orgIds = [randomUUID(), randomUUID(), randomUUID()].sort()
      for (const orgId of orgIds) await add({ orgId, to: 3 })
      const [first, broken, last] = orgIds as [string, string, string]
      await add({ orgId: broken, from: 10, to: 10, hours: -2 })
      await database.pool.query('insert into unremovable values ($1)', [broken])
      const { expired, surplus, failures } = await remove()
      expect({ expired, surplus }).toEqual({ expired: 0, surplus: 2 })
      expect([await left(first), await left(broken), await left(last)]).toEqual([
        [2, 3],
        [1, 2, 3, 10],
        [2, 3],
      ])
      expect(failures.map(String)).toEqual([
        expect.stringContaining('not now'),
        expect.stringMatching(new RegExp(`organization ${broken}.*not now`)),
      ])
    })
  })

  test('sizes are read from an index alone, and no statement passes over the answers of others', async () => {
    const [large, other] = [randomUUID(), randomUUID()]
    await add({ orgId: large, to: 20_000 })
    await add({ orgId: other, to: 2_000, hours: 10 })
    const client = await database.pool.connect()
    try {
      // VACUUM marks no page as visible to all whose commit may not be durable yet. This commit makes all earlier ones so.
      await client.query('set synchronous_commit = on')
      await client.query('truncate batches')
      await client.query('vacuum analyze idempotent_answers')
      const plans = await recordPlans(client, async pool => {
        await expireAnswers(pool, { maxBytes: 20 * MIB, rest: async () => {} })
      })
      const ofSurplus = plans.filter(plan => plan.includes('org_id'))
      expect(ofSurplus.some(plan => plan.includes('Delete on'))).toBe(true)
      expect(ofSurplus.some(plan => plan.includes('WindowAgg') && !plan.includes('Delete on'))).toBe(true)
      for (const plan of ofSurplus) {
        expect(plan).toContain('using idempotent_answers_age')
        expect(plan).not.toMatch(/Seq Scan|idempotent_answers_expiry/)
        if (!plan.includes('Delete on')) expect(plan).toContain('Index Only Scan')
      }
    } finally {
      client.release(true)
    }
  })
})

/** Runs `work` on the client and returns the plans of its statements on answers, each made before its statement runs. */
async function recordPlans(client: PoolClient, work: (pool: Pool) => Promise<void>): Promise<string[]> {
  const plans: string[] = []
  const recorded = {
    connect: async () => ({
      async query(text: string, values?: unknown[]) {
        if (text.includes('idempotent_answers')) {
          const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values)
          plans.push(rows.map(row => row['QUERY PLAN']).join('\n'))
        }
        return await client.query(text, values)
      },
      release() {},
    }),
  } as unknown as Pool
  await work(recorded)
  return plans
}
