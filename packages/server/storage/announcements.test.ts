import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock, systemRandom } from '../core/chance.ts'
import { openIds } from '../core/ids.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../testing/harness/database.ts'
import { type SeededEnvironment, seedEnvironment } from '../testing/harness/seed-environment.ts'
import { type Announcements, type AnnouncementsOptions, openAnnouncements } from './announcements.ts'
import { toClientConfig } from './connection.ts'

const newId = openIds(systemClock, systemRandom)

const KEY = `insert into keys (id, org_id, project_id, environment_id, kind, name, hash, prefix_display, scopes,
    created_at, updated_at)
  values (gen_random_uuid(), $SCOPE, 'secret', 'k', '\\x00', 'rd', '{}', now(), now())`

const CREDENTIAL = `insert into provider_credentials (id, org_id, project_id, environment_id, provider, name,
    secret_cipher, key_fingerprint, created_at, updated_at)
  values (gen_random_uuid(), $SCOPE, 'openai', 'c', '\\x00', 'f', now(), now())`

describe.each(listTestServers())('announcements on $label', server => {
  let database: FreshDatabase
  let seeded: SeededEnvironment
  let announcements: Announcements
  let changes: string[]
  let lost: PromiseWithResolve
  let restored: PromiseWithResolve

  beforeEach(async () => {
    database = await freshDatabase(server)
    seeded = await seedEnvironment(database.pool)
  })
  afterEach(async () => {
    await announcements.close()
    await database.drop()
  })

  const open = async (options: Partial<AnnouncementsOptions> = {}): Promise<void> => {
    changes = []
    lost = createSignal()
    restored = createSignal()
    announcements = await openAnnouncements({
      connection: database.connection,
      log: () => {},
      onChange: environmentId => changes.push(environmentId),
      onLost: lost.resolve,
      onRestored: restored.resolve,
      ...options,
    })
  }
  const listenerPid = async (): Promise<number> => {
    const { rows } = await database.pool.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database() and query in ('listen rideau_config', 'select 1')`,
    )
    return rows[0]?.pid as number
  }
  const change = (sql: string): Promise<unknown> => database.pool.query(sql)

  test('after a barrier every change committed before it has been told, 200 times in a row', async () => {
    await open()
    for (let round = 1; round <= 200; round++) {
      await change(`update environments set log_retention_days = 1 + ${round}`)
      await announcements.barrier()
      expect(changes).toHaveLength(round)
    }
    expect(new Set(changes)).toEqual(new Set([seeded.environmentId]))
  })

  test('the same for many barriers at once, whoever committed', async () => {
    await open()
    const writers = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const client = new Client(toClientConfig(database.connection))
        await client.connect()
        return client
      }),
    )
    const tell = async (client: Client): Promise<void> => {
      for (let round = 0; round < 25; round++) {
        const token = newId()
        await client.query(`select pg_notify('rideau_config', $1)`, [token])
        await announcements.barrier()
        expect(changes).toContain(token)
      }
    }
    await Promise.all(writers.map(tell))
    await Promise.all(writers.map(client => client.end()))
    expect(changes).toHaveLength(200)
  })

  const inScope = (sql: string): string =>
    sql.replaceAll('$SCOPE', `'${seeded.orgId}', '${seeded.projectId}', '${seeded.environmentId}'`)

  test.each([
    ['a project that changes', '', 'update projects set allowed_origins = array[]::text[]'],
    ['an organization that is deleted', '', 'update organizations set deleted_at = now()'],
    ['a new key', '', KEY],
    ['a key that is revoked', KEY, 'update keys set revoked_at = now()'],
    ['a key revoked and used in one', KEY, 'update keys set revoked_at = now(), last_used_at = now()'],
    ['a new credential', '', CREDENTIAL],
    ['a credential with another weight', CREDENTIAL, 'update provider_credentials set weight = 5'],
    ['a credential that is removed', CREDENTIAL, 'delete from provider_credentials'],
  ])('%s is told', async (_, before, sql) => {
    if (before !== '') await change(inScope(before))
    await open()
    await change(inScope(sql))
    await announcements.barrier()
    expect(changes).toEqual([seeded.environmentId])
  })

  test.each([
    ['the use of a key', KEY, 'update keys set last_used_at = now(), updated_at = now()'],
    ['the verdict on a credential', CREDENTIAL, `update provider_credentials set validation_error = 'no'`],
  ])('%s is not told: no snapshot holds it', async (_, before, sql) => {
    await change(inScope(before))
    await open()
    await change(sql)
    await announcements.barrier()
    expect(changes).toEqual([])
  })

  test('a connection that breaks is told at once and restored', async () => {
    await open()
    await change(`select pg_terminate_backend(${await listenerPid()})`)
    await lost.promise
    await expect(announcements.barrier()).rejects.toThrow('lost')
    await restored.promise
    await change('update environments set log_retention_days = 7')
    await announcements.barrier()
    expect(changes).toEqual([seeded.environmentId])
  })

  test.skipIf(typeof server.connection === 'string')(
    'a connection that falls silent is noticed, and a barrier on it is not waited for',
    async () => {
      await open({ heartbeatMs: 20, timeoutMs: 150 })
      const pid = await listenerPid()
      process.kill(pid, 'SIGSTOP')
      try {
        await expect(announcements.barrier()).rejects.toThrow()
        await lost.promise
        await restored.promise
        await announcements.barrier()
      } finally {
        process.kill(pid, 'SIGCONT')
      }
    },
  )
})

interface PromiseWithResolve {
  readonly promise: Promise<void>
  readonly resolve: () => void
}

function createSignal(): PromiseWithResolve {
  let resolve = (): void => {}
  const promise = new Promise<void>(done => {
    resolve = done
  })
  return { promise, resolve }
}
