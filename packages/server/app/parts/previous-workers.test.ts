import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isAlive } from '../../storage/embedded/server-processes.ts'
import { whenPreviousWorkersEnded } from './previous-workers.ts'
import { toWorkerFolder } from './worker-folder.ts'

const log = {
  warn() {
    throw new Error('a worker did not end')
  },
}

function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rideau-previous-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

test('waits until a worker with a journal has ended', async () => {
  const dataDir = openFolder()
  const name = randomUUID()
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', name], { stdio: 'ignore' })
  const pid = child.pid as number
  mkdirSync(join(dataDir, 'journal', toWorkerFolder(pid, name)), { recursive: true })
  // Its arguments show once the program has replaced the fork.
  await new Promise(resolve => child.once('spawn', resolve))
  const waiting = whenPreviousWorkersEnded(dataDir, log)
  setImmediate(() => child.kill('SIGKILL'))
  expect(await waiting).toBe(true)
  expect(isAlive(pid)).toBe(false)
})

test('waits for none where none has left a journal', async () => {
  const dataDir = openFolder()
  expect(await whenPreviousWorkersEnded(dataDir, log)).toBe(false)
  mkdirSync(join(dataDir, 'journal'))
  expect(await whenPreviousWorkersEnded(dataDir, log)).toBe(false)
})
