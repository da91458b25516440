import { spawnSync } from 'node:child_process'
import net from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Keys, openProgramHome, type Program, type ProgramHome, setUp } from './program.ts'

/**
 * A gateway that never rests, on one processor with its database. Records must not fall behind for good: they would fill the journal, and
 * then everybody would be refused.
 */

const CONNECTIONS = 32
const REQUESTS = 40_000
/**
 * The server is behind once 10,000 records wait (journal/drain.ts). As many again are left for what else runs here. The metric counts
 * those in memory, which all of them are.
 */
const MAX_WAITING = REQUESTS / 2

const canRun = process.platform === 'linux' && spawnSync('taskset', ['-c', '0', 'true']).status === 0

let home: ProgramHome
let program: Program
let keys: Keys

beforeAll(async () => {
  if (!canRun) return
  home = await openProgramHome({ processor: 0 })
  program = await home.start({ RIDEAU_WORKERS: '1' })
  keys = await setUp(program)
})

afterAll(async () => {
  await program?.stop()
  home?.remove()
})

/** Sends the request over as many connections, each time once the answer before has come. Returns the statuses and their numbers. */
async function flood(url: string, request: string, total: number): Promise<Map<string, number>> {
  const statuses = new Map<string, number>()
  let left = total
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = net.connect(Number(new URL(url).port), '127.0.0.1')
      const next = (): void => {
        if (left-- > 0) socket.write(request)
        else socket.end()
      }
      socket.setEncoding('latin1')
      socket.on('connect', next).on('error', reject).on('close', resolve)
      socket.on('data', (text: string) => {
        // Each answer is short and written at once.
        for (const [, status = ''] of text.matchAll(/HTTP\/1\.1 (\d+)/g)) {
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          next()
        }
      })
    })
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
  return statuses
}

async function readBacklog(): Promise<number> {
  const [, url] = /"metrics_url":"([^"]+)"/.exec(program.output()) ?? []
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^rideau_journal_backlog (\d+)/m.exec(metrics)?.[1])
}

test.skipIf(!canRun)(
  'records do not fall behind while the gateway never rests',
  { timeout: 300_000 },
  async () => {
    const body = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] })
    const request = [
      'POST /v1/chat HTTP/1.1',
      'host: localhost',
      `authorization: Bearer ${keys.secretKey}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
      '',
      body,
    ].join('\r\n')
    const waiting: number[] = []
    // Another program may have the disk for the time of a flood, but not for that of three.
    while (waiting.length < 3 && !waiting.some(count => count < MAX_WAITING)) {
      await expect.poll(readBacklog, { timeout: 60_000, interval: 500 }).toBeLessThan(1_000)
      const statuses = await flood(program.gatewayUrl, request, REQUESTS)
      waiting.push(await readBacklog())
      expect(statuses).toEqual(new Map([['200', REQUESTS]]))
    }
    expect(Math.min(...waiting)).toBeLessThan(MAX_WAITING)
  },
)
