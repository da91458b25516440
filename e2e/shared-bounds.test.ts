import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  completion,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../packages/server/testing/fakes/scripted-upstream.ts'
import { addProvider, type Keys, openProgramHome, type Program, type ProgramHome, setUp } from './program.ts'
import { connectToEach, listWorkers, type WorkerConnections } from './worker-connections.ts'

const OPEN_REQUESTS = 100
const SENT = 60

let provider: ScriptedUpstream
let home: ProgramHome
let program: Program
let keys: Keys
let workers: WorkerConnections[]

beforeAll(async () => {
  provider = await openScriptedUpstream()
  home = await openProgramHome()
  program = await home.start({ RIDEAU_WORKERS: '2', RIDEAU_OPEN_REQUESTS: String(OPEN_REQUESTS) })
  keys = await setUp(program)
  await addProvider(program, keys, 'custom', provider.baseUrl)
  const pids = listWorkers(program.pid)
  workers = await connectToEach(program.gatewayUrl, pids as [number, number], SENT)
}, 240_000)
afterAll(async () => {
  for (const each of workers ?? []) each.close()
  await program?.stop()
  await provider?.close()
  home?.remove()
}, 60_000)

/** Fills one worker and then the other. Returns how many requests of the key each of them has open. */
async function fill(): Promise<number[]> {
  let running = 0
  let release: () => void = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  provider.script(async (res, seen) => {
    running++
    await released
    return completion('hello')(res, seen)
  })
  const counts: number[] = []
  const calls: Promise<void>[] = []
  for (const worker of workers) {
    const before = running
    let refused = 0
    const send = async (): Promise<void> => {
      const { status } = await worker.send('/openai/v1/chat/completions', {
        headers: { authorization: `Bearer ${keys.secretKey}` },
        body: { model: 'custom/m', messages: [{ role: 'user', content: 'hello' }] },
        mayMove: true,
      })
      if (status === 429) refused++
    }
    calls.push(...Array.from({ length: SENT }, send))
    await expect.poll(() => running - before + refused, { timeout: 30_000 }).toBe(SENT)
    counts.push(running - before)
    // The other one learns of them meanwhile.
    await sleep(200)
  }
  release()
  await Promise.all(calls)
  return counts
}

test('two workers have together the open requests that one process may have', async () => {
  const attempt = async (): Promise<boolean> => {
    const [one = 0, two = 0] = await fill()
    return one > 30 && two < one && one + two < OPEN_REQUESTS
  }
  // On a busy machine the other one may learn late. If it never does, both have as many.
  await expect.poll(attempt, { timeout: 60_000 }).toBe(true)
}, 120_000)
