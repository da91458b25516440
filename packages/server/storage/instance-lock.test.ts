import { rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { buildProgram, programFolder, runProgram } from '../testing/harness/child-program.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../testing/harness/database.ts'
import type { Connection } from './connection.ts'
import { acquireInstanceLock, countInstances } from './instance-lock.ts'

describe.each(listTestServers())('the instance lock on $label', server => {
  let database: FreshDatabase
  beforeEach(async () => {
    database = await freshDatabase(server)
  })
  afterEach(() => database.drop())

  test('rejects a second process with an error that says what to do', async () => {
    const release = await acquireInstanceLock(database.connection)
    const second = acquireInstanceLock(database.connection, { patienceMs: 0 })
    await expect(second).rejects.toThrow(/another gateway process already runs on this database.*REDIS_URL/)
    await release()
  })

  test('lets processes that share their limits run together, and excludes those that do not', async () => {
    const shared = { isShared: true, patienceMs: 0 }
    const releases = [
      await acquireInstanceLock(database.connection, shared),
      await acquireInstanceLock(database.connection, shared),
    ]
    expect(await countInstances(database.pool)).toBe(2)
    const alone = acquireInstanceLock(database.connection, { patienceMs: 0 })
    await expect(alone).rejects.toThrow(/another gateway process already runs/)
    for (const release of releases) await release()
    const release = await acquireInstanceLock(database.connection)
    const late = acquireInstanceLock(database.connection, shared)
    await expect(late).rejects.toThrow(/a gateway process without REDIS_URL already runs/)
    await release()
  })

  test('rejects a second process with the same journal, also where they share their limits', async () => {
    const shared = { isShared: true, patienceMs: 0 }
    const first = await acquireInstanceLock(database.connection, { ...shared, journalId: 'one' })
    const other = await acquireInstanceLock(database.connection, { ...shared, journalId: 'other' })
    const second = acquireInstanceLock(database.connection, { ...shared, journalId: 'one' })
    await expect(second).rejects.toThrow(/another gateway process writes its journal/)
    expect(await countInstances(database.pool)).toBe(2)
    await first()
    await (await acquireInstanceLock(database.connection, { ...shared, journalId: 'one' }))()
    await other()
  })

  test('can be acquired again after its release, and is separate for each database', async () => {
    const other = await freshDatabase(server)
    const releases = [
      await acquireInstanceLock(database.connection),
      await acquireInstanceLock(other.connection),
    ]
    for (const release of releases) await release()
    await (await acquireInstanceLock(database.connection, { patienceMs: 0 }))()
    await other.drop()
  })

  test('waits for another process to release it', async () => {
    const release = await acquireInstanceLock(database.connection)
    const second = acquireInstanceLock(database.connection, { patienceMs: 20_000 })
    const isSecondWaiting = async (): Promise<number> => {
      const { rows } = await database.pool.query(
        `select from pg_stat_activity where datname = current_database() and query like '%pg_try_advisory_lock%'
          and pid <> pg_backend_pid()`,
      )
      return rows.length
    }
    await expect.poll(isSecondWaiting, { timeout: 10_000 }).toBeGreaterThan(0)
    await release()
    await (await second)()
  })

  test('can be released twice', async () => {
    const release = await acquireInstanceLock(database.connection)
    await release()
    await release()
    expect(await countInstances(database.pool)).toBe(0)
  })

  test('is counted once a process, on its own database only', async () => {
    expect(await countInstances(database.pool)).toBe(0)
    const other = await freshDatabase(server)
    const releases = [
      await acquireInstanceLock(other.connection),
      await acquireInstanceLock(database.connection, { isShared: true }),
      await acquireInstanceLock(database.connection, { isShared: true }),
    ]
    expect([await countInstances(database.pool), await countInstances(other.pool)]).toEqual([2, 1])
    for (const release of releases) await release()
    await other.drop()
  })

  test('rejects with the reason if the database is out of reach', async () => {
    const connection = 'postgres://rideau@127.0.0.1:1/rideau'
    const lock = acquireInstanceLock(connection, { patienceMs: 0 })
    await expect(lock).rejects.toThrow('ECONNREFUSED')
  })

  test('is released when its process is killed', async () => {
    const dir = programFolder('instance-lock')
    const program = join(dir, 'program.mjs')
    await buildProgram(
      `import { countInstances, acquireInstanceLock } from './packages/server/storage/instance-lock.ts'
      await acquireInstanceLock(JSON.parse(process.argv[2] as string))
      console.log('acquired')`,
      program,
    )
    const { child, nextLine, ended } = runProgram(program, [JSON.stringify(database.connection)])
    expect(await nextLine()).toBe('acquired')
    await expect(acquireInstanceLock(database.connection, { patienceMs: 0 })).rejects.toThrow('REDIS_URL')
    child.kill('SIGKILL')
    await ended
    await (await acquireInstanceLock(database.connection))()
    rmSync(dir, { recursive: true })
  })

  test('is acquired again where the server takes its broken connection for open', async () => {
    const { proxy, connection, cut } = await openProxy(database.connection)
    let isLost = false
    const onLost = (): void => {
      isLost = true
    }
    const options = { isShared: true, journalId: 'one', onLost, patienceMs: 2000 }
    const release = await acquireInstanceLock(connection, options)
    const listHolders = async (): Promise<number[]> =>
      (
        await database.pool.query(
          `select pid from pg_locks where locktype = 'advisory' and granted and mode = 'ExclusiveLock'
            and database = (select oid from pg_database where datname = current_database())`,
        )
      ).rows.map(({ pid }) => pid)
    const before = await listHolders()
    expect(before).toHaveLength(1)
    cut()
    const hasAnother = async (): Promise<boolean> => (await listHolders()).some(pid => !before.includes(pid))
    await expect.poll(hasAnother, { timeout: 10_000 }).toBe(true)
    expect(isLost).toBe(false)
    await release()
    proxy.close()
  })

  test('is acquired again when its connection breaks, or reports its loss if another process was faster', async () => {
    let reportLoss = (_: Error): void => {}
    const lost = new Promise<Error>(resolve => {
      reportLoss = resolve
    })
    const release = await acquireInstanceLock(database.connection, { onLost: reportLoss, patienceMs: 300 })
    const cut = `select pid, pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
      and database = (select oid from pg_database where datname = current_database())`
    const first = (await database.pool.query(cut)).rows
    expect(first).toHaveLength(1)
    const countNewLocks = async (): Promise<number> => {
      const { rows } = await database.pool.query(
        `select pid from pg_locks where locktype = 'advisory' and granted and pid <> $1
          and database = (select oid from pg_database where datname = current_database())`,
        [first[0].pid],
      )
      return rows.length
    }
    await expect.poll(countNewLocks, { timeout: 20_000, interval: 10 }).toBe(1)
    // A rival waits for the lock and acquires it in the moment of the loss.
    const key = `hashtextextended('rideau.instance', 0)`
    const rival = await database.pool.connect()
    const taken = rival.query(`select pg_advisory_lock(${key})`)
    await expect
      .poll(async () => (await database.pool.query('select 1 from pg_locks where not granted')).rows.length, {
        timeout: 10_000,
      })
      .toBe(1)
    await database.pool.query(cut)
    await taken
    expect((await lost).message).toContain('another gateway process')
    rival.release(true)
    await release()
  })
})

/** A proxy before a server. `cut` ends the connections of its clients, and leaves those to the server open. */
async function openProxy(to: Connection): Promise<{ proxy: Server; connection: Connection; cut(): void }> {
  const clients = new Set<Socket>()
  const proxy = createServer(client => {
    clients.add(client)
    const server =
      typeof to === 'string'
        ? connect(Number(new URL(to).port || 5432), new URL(to).hostname)
        : connect(join(to.host, `.s.PGSQL.${to.port}`))
    for (const socket of [client, server]) socket.on('error', () => {})
    client.on('data', chunk => server.write(chunk))
    server.on('data', chunk => client.write(chunk))
    server.on('close', () => client.destroy())
  })
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  const cut = (): void => {
    for (const client of clients) client.destroy()
  }
  if (typeof to !== 'string') return { proxy, connection: { ...to, host: '127.0.0.1', port }, cut }
  const url = new URL(to)
  url.host = `127.0.0.1:${port}`
  return { proxy, connection: url.href, cut }
}
