import http from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { whileFrozen } from './frozen-server.ts'
import { type Keys, openProgramHome, type Program, type ProgramHome, setUp } from './program.ts'

/**
 * The database server stops in the middle of everything, as on a stalled disk: it keeps its connections and answers
 * nothing. Callers of the gateway go on.
 */

const ROUNDS = 8
/** Enough that each worker has loaded the key before the database is frozen: a connection comes to any of them. */
const REQUESTS_BEFORE = 20

let home: ProgramHome
let program: Program
let keys: Keys

beforeAll(async () => {
  home = await openProgramHome()
  program = await home.start()
  keys = await setUp(program)
})

afterAll(async () => {
  await program?.stop()
  home.remove()
})

interface Answer {
  readonly status: number
  readonly text: string
}

/** Sends a request over a connection of its own, so that none waits for another. */
function send(
  url: string,
  { key, body, headers = {} }: { key?: string; body?: unknown; headers?: Record<string, string> },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const req = http.request(url, {
      method: body === undefined ? 'GET' : 'POST',
      agent: false,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    })
    req.on('error', reject)
    req.on('response', res => {
      let text = ''
      res.on('data', chunk => {
        text += String(chunk)
      })
      res.on('end', () => resolve({ status: res.statusCode ?? 0, text }))
    })
    req.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

const chat = (more: object = {}) => ({
  model: 'sandbox/echo',
  messages: [{ role: 'user', content: 'hi' }],
  ...more,
})

test.skipIf(process.platform !== 'linux')(
  'callers of the gateway are answered while the database is frozen, and every answer is recorded',
  { timeout: 180_000 },
  async () => {
    const { secretKey: key, managementKey, developmentId } = keys
    const { gatewayUrl, controlUrl } = program
    const served: Promise<Answer>[] = []
    const refused: Promise<Answer>[] = []
    for (let at = 0; at < REQUESTS_BEFORE; at++) {
      expect((await send(`${gatewayUrl}/v1/chat`, { key, body: chat() })).status).toBe(200)
    }
    await whileFrozen(home, async () => {
      for (let at = 0; at < ROUNDS; at++) {
        const ask = (body: object, headers = {}) => send(`${gatewayUrl}/v1/chat`, { key, body, headers })
        const id = `0190a000-0000-7000-8000-${String(at).padStart(12, '0')}`
        served.push(
          ask(chat()),
          ask(chat({ stream: true })),
          ask(chat({ user: `u${at}` })),
          ask(chat(), { 'x-request-id': id }),
        )
        refused.push(
          ask(chat(), { 'idempotency-key': `k${at}` }),
          send(`${gatewayUrl}/v1/feedback`, { key, body: { request_id: id, score: 1 } }),
        )
      }
      // All of them while it is frozen.
      for (const { status, text } of await Promise.all(served))
        expect({ status, text }).toMatchObject({ status: 200 })
      for (const { status, text } of await Promise.all(refused)) {
        expect([status, text]).toEqual([500, expect.stringContaining('"code":"config_unavailable"')])
      }
    })
    const countRecords = async (): Promise<number> => {
      const route = `/v1/environments/${developmentId}/logs?limit=100`
      const { status, text } = await send(controlUrl + route, { key: managementKey })
      const logs = status === 200 ? (JSON.parse(text) as { data: { status: number }[] }).data : []
      return logs.filter(log => log.status === 200).length
    }
    await expect.poll(countRecords, { timeout: 60_000 }).toBe(REQUESTS_BEFORE + served.length)
    expect(program.output()).not.toContain('"alarm"')
  },
)
