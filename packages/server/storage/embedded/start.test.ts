import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  buildProgram,
  type ChildProgram,
  programFolder,
  runProgram,
} from '../../testing/harness/child-program.ts'
import {
  createHome,
  INIT_ARGS,
  PROGRAM,
  query,
  removeProgramCopies,
  SETTINGS,
  startTestServer,
} from '../../testing/harness/embedded-server.ts'
import { toClientConfig } from '../connection.ts'
import { chooseAccount, spawnAs } from './account.ts'
import { isAlive } from './server-processes.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './start.ts'

let programs: string
/** A data folder to copy for tests that need no new one: initdb takes most of a first start. */
let made: string
let program: string
let home: string
let dataDir: string
const servers: EmbeddedPostgres[] = []
const children: ChildProgram[] = []
const sleepers: ChildProcess[] = []

beforeAll(async () => {
  programs = programFolder('embedded')
  program = join(programs, 'program.mjs')
  await buildProgram(PROGRAM, program)
  made = createHome('user')
  dataDir = join(made, 'data')
  await (await start()).stop()
})
afterAll(() => {
  for (const dir of [programs, made]) rmSync(dir, { recursive: true, force: true })
  removeProgramCopies('user')
})

function copyMade(): void {
  expect(spawnSync('cp', ['-a', join(made, 'data'), dataDir]).status).toBe(0)
}

beforeEach(() => {
  home = createHome('user')
  dataDir = join(home, 'data')
})
afterEach(async () => {
  for (const { child, ended } of children.splice(0)) {
    child.kill('SIGKILL')
    await ended
  }
  for (const sleeper of sleepers.splice(0)) sleeper.kill('SIGKILL')
  for (const server of servers.splice(0)) await server.stop({ force: true })
  rmSync(home, { recursive: true, force: true })
})

async function start(): Promise<EmbeddedPostgres> {
  const server = await startTestServer(dataDir)
  servers.push(server)
  return server
}

function run(file: string, args: string[], options: { uid?: number } = {}): ChildProgram {
  const child = runProgram(file, args, options)
  children.push(child)
  return child
}

const pidFile = (): string => join(dataDir, 'pg18', 'postmaster.pid')
const serverPid = (): number => Number.parseInt(readFileSync(pidFile(), 'utf8'), 10)

const createPidFile = (pid: number): string => `${pid}\n${dataDir}/pg18\n1\n5432\n/x\n\n1 1\nready\n`

function writeOwned(path: string, content: string): void {
  const { uid, gid } = chooseAccount(join(dataDir, 'pg18'))
  writeFileSync(path, content)
  chownSync(path, uid, gid)
}

/** Runs as the server's user: PostgreSQL treats a pid file as live only if it may signal the process. */
function spawnAsServer(command: string, args: string[]): ChildProcess {
  const as = spawnAs(chooseAccount(join(dataDir, 'pg18')))
  const child = spawn(command, args, { ...as, stdio: ['ignore', 'pipe', 'ignore'] })
  sleepers.push(child)
  return child
}

const spawnSleeper = (): number => spawnAsServer('/bin/sleep', ['600']).pid as number

async function untilDead(pid: number): Promise<void> {
  await expect.poll(() => isAlive(pid), { timeout: 10_000, interval: 5 }).toBe(false)
}

describe('the embedded server', () => {
  test('keeps its data across a stop and a start', async () => {
    const first = await start()
    expect(first.adopted).toBe(false)
    await query(first.connection, 'create table kept as select 42 as answer')
    const pid = serverPid()
    await first.stop()
    expect([isAlive(pid), existsSync(first.connection.host)]).toEqual([false, false])
    const second = await start()
    expect(second.adopted).toBe(false)
    expect(await query(second.connection, 'select answer from kept')).toEqual([{ answer: 42 }])
  })

  test('logs where its data, its program and its socket are', async () => {
    copyMade()
    const lines: string[] = []
    const log = (line: string): number => lines.push(line)
    servers.push(await startEmbeddedPostgres({ dataDir, log, settings: SETTINGS, initArgs: INIT_ARGS }))
    expect(lines.join('\n')).toContain(`data in ${join(dataDir, 'pg18')}`)
    expect(lines.join('\n')).toContain(`socket in ${servers[0]?.connection.host}`)
  })

  test('gives way to other processes with all of its own, those of later sessions too', async () => {
    copyMade()
    const { connection } = await start()
    const client = new Client(toClientConfig(connection))
    await client.connect()
    try {
      const { rows } = await client.query('select pg_backend_pid() as pid')
      const pids = [serverPid(), rows[0].pid as number]
      const low = Math.max(getPriority(), 5)
      await expect.poll(() => pids.map(getPriority), { timeout: 10_000 }).toEqual([low, low])
      // Where Linux groups by session, the values of processes do not count, but those of the groups.
      const groups = pids.map(pid => `/proc/${pid}/autogroup`).filter(existsSync)
      for (const group of groups) {
        await expect.poll(() => readFileSync(group, 'utf8'), { timeout: 10_000 }).toMatch(/nice 5$/m)
      }
    } finally {
      await client.end()
    }
  })

  test('keeps running when its parent is killed, and is adopted with everything it committed', async () => {
    copyMade()
    const parent = run(program, [dataDir])
    const { connection } = JSON.parse(await parent.nextLine())
    await query(connection, 'create table kept as select 42 as answer')
    const pid = serverPid()
    parent.child.kill('SIGKILL')
    await parent.ended
    const next = await start()
    expect([next.adopted, serverPid()]).toEqual([true, pid])
    expect(await query(next.connection, 'select answer from kept')).toEqual([{ answer: 42 }])
    await next.stop()
    expect(isAlive(pid)).toBe(false)
  })

  test('starts again after a kill -9 of the server', async () => {
    copyMade()
    const first = await start()
    await query(first.connection, 'create table kept as select 42 as answer')
    const pid = serverPid()
    process.kill(pid, 'SIGKILL')
    await untilDead(pid)
    const second = await start()
    expect(second.adopted).toBe(false)
    expect(await query(second.connection, 'select answer from kept')).toEqual([{ answer: 42 }])
  })

  test('ends a busy backend that survived its server, and starts', async () => {
    copyMade()
    const first = await start()
    const client = new Client(toClientConfig(first.connection))
    client.on('error', () => {})
    await client.connect()
    const { rows } = await client.query('select pg_backend_pid() as pid')
    const busy = client.query('select count(*) from generate_series(1, 1e15::bigint)').catch(() => {})
    await expect
      .poll(() => query(first.connection, `select 1 from pg_stat_activity where query like '%1e15%' limit 1`))
      .not.toEqual([])
    const pid = serverPid()
    process.kill(pid, 'SIGKILL')
    await untilDead(pid)
    expect(isAlive(rows[0].pid)).toBe(true)
    const second = await start()
    expect(second.adopted).toBe(false)
    expect(isAlive(rows[0].pid)).toBe(false)
    await busy
  })

  test.each([
    ['is empty', () => ''],
    ['names a process that does not exist', () => createPidFile(4_194_303)],
    ['names a process that is another program', () => createPidFile(spawnSleeper())],
  ])('starts if the pid file that was left %s', async (_, content) => {
    copyMade()
    writeOwned(pidFile(), content())
    const next = await start()
    expect(next.adopted).toBe(false)
    expect(await query(next.connection, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test.runIf(process.platform === 'linux')(
    'starts if the pid file names a zombie that is never reaped',
    async () => {
      copyMade()
      const first = await start()
      await first.stop()
      // The shell starts a child and replaces itself by sleep, which never waits for that child. The child must end after
      // the replacement, or the shell would still reap it.
      const { stdout } = spawnAsServer('/bin/sh', ['-c', 'sleep 0.5 & echo $!; exec sleep 600'])
      const { value } = await createInterface({ input: stdout as Readable })
        [Symbol.asyncIterator]()
        .next()
      const zombie = Number(value)
      await untilDead(zombie)
      expect(() => process.kill(zombie, 0)).not.toThrow()
      const socketDir = first.connection.host
      mkdirSync(socketDir, { mode: 0o700 })
      for (const path of [pidFile(), join(socketDir, '.s.PGSQL.5432.lock')]) {
        writeOwned(path, createPidFile(zombie))
      }
      expect((await start()).adopted).toBe(false)
    },
  )

  test('is started by one of three starters on a new folder, two adopt it, and the last to stop ends it', async () => {
    const three = await Promise.all([start(), start(), start()])
    expect(three.map(server => server.adopted).sort()).toEqual([false, true, true])
    const pid = serverPid()
    const users = await Promise.all(
      three.slice(1).map(async ({ connection }) => {
        const client = new Client(toClientConfig(connection))
        await client.connect()
        return client
      }),
    )
    await three[0]?.stop()
    expect(isAlive(pid)).toBe(true)
    await users[0]?.end()
    await three[1]?.stop()
    expect(isAlive(pid)).toBe(true)
    await users[1]?.end()
    await three[2]?.stop()
    expect(isAlive(pid)).toBe(false)
  })

  test('is started by one of two processes that start at once, and the other adopts it', async () => {
    copyMade()
    const two = [run(program, [dataDir]), run(program, [dataDir])] as const
    const started = await Promise.all(two.map(async ({ nextLine }) => JSON.parse(await nextLine())))
    expect(started.map(({ adopted }) => adopted).sort()).toEqual([false, true])
    expect(started[0].connection).toEqual(started[1].connection)
    const pid = serverPid()
    // The process that started the server is killed; the other one uses it on, and ends it.
    const starter = started[0].adopted ? 1 : 0
    two[starter].child.kill('SIGKILL')
    await two[starter].ended
    expect(await query(started[0].connection, 'select 1 as one')).toEqual([{ one: 1 }])
    const other = two[1 - starter] as ChildProgram
    other.child.stdin?.end()
    expect(await other.ended).toBe(0)
    expect(isAlive(pid)).toBe(false)
  })

  test('starts after another starter was killed before it was ready', async () => {
    copyMade()
    const killed = run(program, [dataDir])
    killed.child.kill('SIGKILL')
    await killed.ended
    const next = await start()
    expect(await query(next.connection, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test('recovers what was committed after a forced stop', async () => {
    copyMade()
    const first = await start()
    await query(first.connection, 'create table kept as select 42 as answer')
    await first.stop({ force: true })
    const second = await start()
    expect(second.adopted).toBe(false)
    expect(await query(second.connection, 'select answer from kept')).toEqual([{ answer: 42 }])
  })

  test('is stopped once, however often stop is called', async () => {
    copyMade()
    const server = await start()
    const pid = serverPid()
    await Promise.all([server.stop(), server.stop(), server.stop({ force: true })])
    expect([isAlive(pid), existsSync(server.connection.host)]).toEqual([false, false])
  })

  test('removes what a first start left that was killed before it finished', async () => {
    mkdirSync(join(dataDir, '.new-pg18-abcdef'), { recursive: true })
    await start()
    expect(readdirSync(dataDir).sort()).toEqual(['pg18', 'postgres.log'])
  })

  test('gives other users of the machine no access', async () => {
    copyMade()
    const { connection } = await start()
    expect(statSync(connection.host).mode & 0o777).toBe(0o700)
    expect(statSync(join(dataDir, 'pg18')).mode & 0o077).toBe(0)
    expect(await query(connection, 'show listen_addresses')).toEqual([{ listen_addresses: '' }])
  })

  test('logs no statement of this program that fails, since callers cause them', async () => {
    copyMade()
    const { connection } = await start()
    const logged = (): string => readFileSync(join(dataDir, 'postgres.log'), 'utf8')
    await expect(query(connection, "select 'failed'::int")).rejects.toThrow(/invalid input/)
    expect(logged()).not.toContain('failed')
    const other = new Client({ ...connection, ssl: false })
    await other.connect()
    await expect(other.query("select 'failed'::int")).rejects.toThrow(/invalid input/)
    await other.end()
    await expect.poll(logged).toContain("select 'failed'::int")
  })

  test("rejects with the server's own message if it does not accept a setting", async () => {
    copyMade()
    const settings = { shared_buffers: 'plenty' }
    const refused = startEmbeddedPostgres({ dataDir, log: () => {}, settings, initArgs: INIT_ARGS })
    await expect(refused).rejects.toThrow(/did not start[\s\S]*shared_buffers/)
  })
})
