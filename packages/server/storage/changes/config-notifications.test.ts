import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../core/clock.ts'
import { openIds } from '../../core/ids.ts'
import { systemRandom } from '../../core/random.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { type SeededEnvironment, seedEnvironment } from '../../testing/harness/seed-environment.ts'
import { toClientConfig, withDatabase } from '../connection.ts'
import {
  type ConfigNotifications,
  type ConfigNotificationsOptions,
  openConfigNotifications,
} from './config-notifications.ts'

const newId = openIds(systemClock, systemRandom)

const KEY = `insert into keys (id, original_id, org_id, project_id, environment_id, kind, name, hash, prefix_display, scopes,
    created_at, updated_at)
  select id, id, $SCOPE, 'secret', 'k', '\\x00', 'rd', '{}', now(), now() from gen_random_uuid() as id`

const CREDENTIAL = `insert into provider_credentials (id, org_id, project_id, environment_id, provider, name,
    secret_cipher, key_fingerprint, created_at, updated_at)
  values (gen_random_uuid(), $SCOPE, 'openai', 'c', '\\x00', 'f', now(), now())`

describe.each(listTestServers())('configuration notifications on $label', server => {
  let database: FreshDatabase
  let seeded: SeededEnvironment
  let notifications: ConfigNotifications
  let changes: string[]
  let lost: PromiseWithResolve
  let lostCount: number
  let restored: PromiseWithResolve

  beforeEach(async () => {
    database = await freshDatabase(server)
    seeded = await seedEnvironment(database.pool)
  })
  afterEach(async () => {
    await notifications.close()
    await database.drop()
  })

  const open = async (options: Partial<ConfigNotificationsOptions> = {}): Promise<void> => {
    changes = []
    lost = createSignal()
    lostCount = 0
    restored = createSignal()
    notifications = await openConfigNotifications({
      connection: database.connection,
      log: () => {},
      onChange: environmentId => changes.push(environmentId),
      onLost: () => {
        lostCount++
        lost.resolve()
      },
      onRestored: () => restored.resolve(),
      ...options,
    })
  }
  const findListenerPid = async (): Promise<number> => {
    const { rows } = await database.pool.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database() and query in ('listen rideau_config', 'select 1')`,
    )
    return rows[0]?.pid as number
  }
  const change = (sql: string): Promise<unknown> => database.pool.query(sql)

  test('has reported every change that was committed before a barrier, 200 times in a row', async () => {
    await open()
    for (let round = 1; round <= 200; round++) {
      await change(`update environments set log_retention_days = 1 + ${round}`)
      await notifications.barrier()
      expect(changes).toHaveLength(round)
    }
    expect(new Set(changes)).toEqual(new Set([seeded.environmentId]))
  })

  test('has reported them too when eight writers wait at barriers at once', async () => {
    await open()
    const writers = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const client = new Client(toClientConfig(database.connection))
        await client.connect()
        return client
      }),
    )
    const notify = async (client: Client): Promise<void> => {
      for (let round = 0; round < 25; round++) {
        const token = newId()
        await client.query(`select pg_notify('rideau_config', $1)`, [token])
        await notifications.barrier()
        expect(changes).toContain(token)
      }
    }
    await Promise.all(writers.map(notify))
    await Promise.all(writers.map(client => client.end()))
    expect(changes).toHaveLength(200)
  })

  const inScope = (sql: string): string =>
    sql.replaceAll('$SCOPE', `'${seeded.orgId}', '${seeded.projectId}', '${seeded.environmentId}'`)

  test.each([
    ['a changed project', '', 'update projects set allowed_origins = array[]::text[]'],
    ['a deleted organization', '', 'update organizations set deleted_at = now()'],
    ['a new key', '', KEY],
    ['a revoked key', KEY, 'update keys set revoked_at = now()'],
    [
      'a key that is revoked and used in one statement',
      KEY,
      'update keys set revoked_at = now(), last_used_at = now()',
    ],
    ['a new credential', '', CREDENTIAL],
    ['a credential whose weight changes', CREDENTIAL, 'update provider_credentials set weight = 5'],
    ['a removed credential', CREDENTIAL, 'delete from provider_credentials'],
  ])('reports %s', async (_, before, sql) => {
    if (before !== '') await change(inScope(before))
    await open()
    await change(inScope(sql))
    await notifications.barrier()
    expect(changes).toEqual([seeded.environmentId])
  })

  const LIMIT = `insert into limits (id, org_id, scope, metric, "limit", created_at, updated_at)
    values (gen_random_uuid(), $ORG, 'org', 'concurrency', 9, now(), now())`

  test('reports a changed organization to the environments of its live projects only, and each deletion of a project', async () => {
    const { projectId, environmentId } = seeded
    const project = newId()
    const environment = newId()
    await change(`insert into projects (id, org_id, name, slug, created_at, updated_at)
      select '${project}', org_id, 'Other', 'other', now(), now() from projects`)
    await change(`insert into environments (id, org_id, project_id, name, is_default, log_capture, created_at, updated_at)
      select '${environment}', org_id, '${project}', name, true, 'full', now(), now() from environments`)
    await open()
    const report = async (sql: string): Promise<string[]> => {
      changes.splice(0)
      await change(sql.replaceAll('$ORG', `'${seeded.orgId}'`))
      await notifications.barrier()
      return changes.toSorted()
    }
    const both = [environment, environmentId].toSorted()
    expect(await report(LIMIT)).toEqual(both)
    expect(await report(`update organizations set name = 'New'`)).toEqual(both)
    const deletion = `update projects set deleted_at = now() where id =`
    expect(await report(`${deletion} '${project}'`)).toEqual([environment])
    expect(await report(LIMIT)).toEqual([environmentId])
    expect(await report(`update organizations set name = 'Newer'`)).toEqual([environmentId])
    expect(await report(`update organizations set deleted_at = now()`)).toEqual([environmentId])
    expect(await report(`${deletion} '${projectId}'`)).toEqual([environmentId])
    expect(await report('delete from limits')).toEqual([])
  })

  test.each([
    ['the use of a key', KEY, 'update keys set last_used_at = now(), updated_at = now()'],
    [
      'the validation result of a credential',
      CREDENTIAL,
      `update provider_credentials set validation_error = 'no'`,
    ],
  ])('does not report %s, which no snapshot holds', async (_, before, sql) => {
    await change(inScope(before))
    await open()
    await change(sql)
    await notifications.barrier()
    expect(changes).toEqual([])
  })

  test('reports a broken connection at once, and reconnects', async () => {
    await open()
    await change(`select pg_terminate_backend(${await findListenerPid()})`)
    await lost.promise
    await expect(notifications.barrier()).rejects.toThrow('lost')
    await restored.promise
    await change('update environments set log_retention_days = 7')
    await notifications.barrier()
    expect(changes).toEqual([seeded.environmentId])
  })

  test('reconnects each time the connection breaks', async () => {
    const log: string[] = []
    await open({ log: line => log.push(line) })
    for (let round = 1; round <= 3; round++) {
      restored = createSignal()
      await change(`select pg_terminate_backend(${await findListenerPid()})`)
      await restored.promise
      await notifications.barrier()
    }
    expect(log.filter(line => line.startsWith('configuration notifications lost: '))).toHaveLength(3)
    expect(log.filter(line => line === 'configuration notifications restored')).toHaveLength(3)
  })

  test('keeps trying to reconnect, and misses the changes until it has', async () => {
    await open()
    const name = (await database.pool.query<{ name: string }>('select current_database() as name')).rows[0]
      ?.name
    const pid = await findListenerPid()
    const other = new Client(toClientConfig(server.connection))
    await other.connect()
    try {
      await other.query(`alter database ${name} allow_connections false`)
      await other.query(`select pg_terminate_backend(${pid})`)
      await lost.promise
      await change('update environments set log_retention_days = 6')
      expect(lostCount).toBe(1)
      await other.query(`alter database ${name} allow_connections true`)
    } finally {
      await other.end()
    }
    await restored.promise
    await change('update environments set log_retention_days = 7')
    await notifications.barrier()
    expect(changes).toEqual([seeded.environmentId])
  })

  test('ignores notifications of other channels', async () => {
    await open()
    await change(`select pg_notify('rideau_other', 'x')`)
    await change(`select pg_notify('rideau_config', 'y')`)
    await notifications.barrier()
    expect(changes).toEqual(['y'])
  })

  test('reports a change only when its transaction commits', async () => {
    await open()
    const client = await database.pool.connect()
    try {
      await client.query('begin')
      await client.query('update environments set log_retention_days = 3')
      await notifications.barrier()
      expect(changes).toEqual([])
      await client.query('rollback')
      await client.query('begin; update environments set log_retention_days = 4; commit')
    } finally {
      client.release()
    }
    await notifications.barrier()
    expect(changes).toEqual([seeded.environmentId])
  })

  test('calls nothing after close, and can be closed twice', async () => {
    await open()
    await notifications.close()
    await notifications.close()
    await change('update environments set log_retention_days = 5')
    expect([changes, lostCount]).toEqual([[], 0])
    await expect(notifications.barrier()).rejects.toThrow()
  })

  test('rejects if the first connection fails', async () => {
    const missing = withDatabase(database.connection, 'no_such_database')
    const opened = openConfigNotifications({
      connection: missing,
      log: () => {},
      onChange: () => {},
      onLost: () => {},
      onRestored: () => {},
    })
    await expect(opened).rejects.toThrow('no_such_database')
    await open()
  })

  test.skipIf(typeof server.connection === 'string')(
    'reports a server that stops responding, rejects the barrier in time, and reconnects',
    async () => {
      await open({ heartbeatMs: 20, timeoutMs: 150 })
      const pid = await findListenerPid()
      process.kill(pid, 'SIGSTOP')
      try {
        await expect(notifications.barrier()).rejects.toThrow()
        await lost.promise
        await restored.promise
        await notifications.barrier()
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
