import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import type { Pool } from 'pg'
import { afterEach, expect, test } from 'vitest'
import { mayRaise } from './server-priority.ts'
import { WriterPriority } from './writer-priority.ts'

let writer: ChildProcess | undefined
let priority: WriterPriority | undefined
afterEach(() => {
  priority?.close()
  writer?.kill('SIGKILL')
})

/** Of the process, and of its session. */
function readNices(pid: number): [process: number, session: number] {
  const [, session = '0'] = /nice (-?\d+)/.exec(readFileSync(`/proc/${pid}/autogroup`, 'latin1')) ?? []
  return [getPriority(pid), Number(session)]
}

test.runIf(process.platform === 'linux')(
  'the writer of records comes last while nothing waits for them, and has the priority of a gateway while something does',
  async () => {
    // A session of its own, as the server's processes have.
    writer = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
    const pid = writer.pid as number
    const pool = new EventEmitter()
    const own = readNices(process.pid)
    let isWaitedFor = false
    priority = new WriterPriority(pool as unknown as Pool, () => isWaitedFor)
    pool.emit('connect', { processID: pid })
    const expectNices = async (ofProcess: number, ofSession: number): Promise<void> => {
      const expected = [mayRaise ? ofProcess : getPriority(), ofSession]
      await expect.poll(() => readNices(pid), { timeout: 5_000 }).toEqual(expected)
    }
    await expectNices(19, 19)
    isWaitedFor = true
    await expectNices(...own)
    // As the server's processes are lowered.
    if (mayRaise) setPriority(pid, 5)
    await expectNices(...own)
    isWaitedFor = false
    await expectNices(19, 19)
    pool.emit('remove', { processID: pid })
    isWaitedFor = true
    await new Promise(resolve => setTimeout(resolve, 300))
    await expectNices(19, 19)
  },
)
