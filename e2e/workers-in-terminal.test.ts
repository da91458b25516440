import { readdirSync } from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { isAlive } from '../packages/server/storage/embedded/server-processes.ts'
import { freePort } from '../packages/server/testing/harness/free-port.ts'
import { openProgramHome, type ProgramHome } from './program.ts'
import { hasTerminal, openTerminal, type Terminal } from './terminal.ts'
import { listWorkers } from './worker-connections.ts'

const WORKERS = 2

describe.runIf(hasTerminal)('npm start with two workers in a terminal', () => {
  let own: ProgramHome
  let terminal: Terminal
  let pids: number[]
  const open = async (): Promise<void> => {
    const ports = [await freePort(), await freePort()]
    terminal = openTerminal('npm start', {
      NODE_ENV: 'development',
      RIDEAU_WORKERS: String(WORKERS),
      RIDEAU_DATA_DIR: own.dataDir,
      RIDEAU_GATEWAY_PORT: String(ports[0]),
      RIDEAU_CONTROL_PORT: String(ports[1]),
      RIDEAU_METRICS_PORT: '0',
    })
    await terminal.until('Control plane  http')
    const pid = terminal.findPid('bin/rideau.mjs')
    pids = [pid, ...listWorkers(pid)]
    expect(pids).toHaveLength(1 + WORKERS)
  }
  beforeAll(async () => {
    own = await openProgramHome()
  })
  afterEach(() => terminal.kill())
  afterAll(() => own.remove())

  test('ends with all its workers after Ctrl-C', async () => {
    await open()
    terminal.type('\x03')
    expect(await terminal.ended).toBe(0)
    expect(pids.filter(isAlive)).toEqual([])
    expect(readdirSync(path.join(own.dataDir, 'journal'))).toEqual([])
  }, 240_000)

  test('ends with all its workers after the terminal has gone', async () => {
    await open()
    terminal.kill()
    await expect.poll(() => pids.filter(isAlive), { timeout: 60_000 }).toEqual([])
    expect(readdirSync(path.join(own.dataDir, 'journal'))).toEqual([])
  }, 240_000)
})
