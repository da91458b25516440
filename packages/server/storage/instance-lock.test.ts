import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { buildProgram, programFolder, runProgram } from '../testing/harness/child-program.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../testing/harness/database.ts'
import { countInstances, holdInstanceLock } from './instance-lock.ts'

describe.each(listTestServers())('the instance lock on $label', server => {
  let database: FreshDatabase
  beforeEach(async () => {
    database = await freshDatabase(server)
  })
  afterEach(() => database.drop())

  test('a second process is refused and told what to do', async () => {
    const release = await holdInstanceLock(database.connection)
    const second = holdInstanceLock(database.connection, { patienceMs: 0 })
    await expect(second).rejects.toThrow(/another gateway process already runs on this database.*REDIS_URL/)
    await release()
  })

  test('several that share their limits run together; one that does not is kept out, and keeps them out', async () => {
    const shared = { isShared: true, patienceMs: 0 }
    const releases = [
      await holdInstanceLock(database.connection, shared),
      await holdInstanceLock(database.connection, shared),
    ]
    expect(await countInstances(database.pool)).toBe(2)
    const alone = holdInstanceLock(database.connection, { patienceMs: 0 })
    await expect(alone).rejects.toThrow(/another gateway process already runs/)
    for (const release of releases) await release()
    const release = await holdInstanceLock(database.connection)
    const late = holdInstanceLock(database.connection, shared)
    await expect(late).rejects.toThrow(/a gateway process without REDIS_URL already runs/)
    await release()
  })

  test('given back it can be had at once, and another database has its own', async () => {
    const other = await freshDatabase(server)
    const releases = [await holdInstanceLock(database.connection), await holdInstanceLock(other.connection)]
    for (const release of releases) await release()
    await (await holdInstanceLock(database.connection, { patienceMs: 0 }))()
    await other.drop()
  })

  test('a holder that is killed does not keep it', async () => {
    const dir = programFolder('instance-lock')
    const program = join(dir, 'program.mjs')
    await buildProgram(
      `import { countInstances, holdInstanceLock } from './packages/server/storage/instance-lock.ts'
      await holdInstanceLock(JSON.parse(process.argv[2] as string))
      console.log('held')`,
      program,
    )
    const { child, nextLine, ended } = runProgram(program, [JSON.stringify(database.connection)])
    expect(await nextLine()).toBe('held')
    await expect(holdInstanceLock(database.connection, { patienceMs: 0 })).rejects.toThrow('REDIS_URL')
    child.kill('SIGKILL')
    await ended
    await (await holdInstanceLock(database.connection))()
    rmSync(dir, { recursive: true })
  })

  test('a lock that goes with its connection is taken again, or its loss is told', async () => {
    let tell = (_: Error): void => {}
    const lost = new Promise<Error>(resolve => {
      tell = resolve
    })
    const release = await holdInstanceLock(database.connection, { onLost: tell, patienceMs: 300 })
    const cut = `select pid, pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
      and database = (select oid from pg_database where datname = current_database())`
    const first = (await database.pool.query(cut)).rows
    expect(first).toHaveLength(1)
    const isHeldAgain = async (): Promise<number> => {
      const { rows } = await database.pool.query(
        `select pid from pg_locks where locktype = 'advisory' and granted and pid <> $1
          and database = (select oid from pg_database where datname = current_database())`,
        [first[0].pid],
      )
      return rows.length
    }
    await expect.poll(isHeldAgain, { timeout: 5000, interval: 10 }).toBe(1)
    // Now another takes it in the moment of the loss.
    const key = `hashtextextended('rideau.instance', 0)`
    const rival = await database.pool.connect()
    const taken = rival.query(`select pg_advisory_lock(${key})`)
    await expect
      .poll(async () => (await database.pool.query('select 1 from pg_locks where not granted')).rows.length)
      .toBe(1)
    await database.pool.query(cut)
    await taken
    expect((await lost).message).toContain('another gateway process')
    rival.release(true)
    await release()
  })
})
