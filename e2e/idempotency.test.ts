import { randomUUID } from 'node:crypto'
import http from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  completion,
  streamedCompletion,
  type UpstreamAnswer,
} from '../packages/server/testing/fakes/scripted-upstream.ts'
import { PRICED_CHAT, USED } from '../packages/server/testing/harness/limited-app.ts'
import { redisProgram } from '../packages/server/testing/harness/redis.ts'
import { type Fleet, type Gateway, openFleet } from './fleet.ts'

const KEYS = 100
const REQUESTS = 10_000
const CONCURRENCY = 300

describe.skipIf(redisProgram === undefined)(
  'Idempotency-Key on three gateways of the shipped program',
  () => {
    let fleet: Fleet
    let gateways: readonly Gateway[]

    beforeAll(async () => {
      fleet = await openFleet()
      gateways = await Promise.all([1, 2, 3].map(number => fleet.start(number)))
    })
    afterAll(async () => {
      await fleet?.close()
    })

    test('10,000 racing requests over 100 keys make 100 provider calls and 100 charges', async () => {
      const { app, upstream } = fleet.limited
      const { key, budget } = await fleet.limited.freshKey(1_000)
      let calls = 0
      const hello = completion('hello', { usage: USED })
      const words = streamedCompletion('one', ' two')
      upstream.script(async (res, seen) => {
        calls++
        // Until other requests of the key have arrived at each gateway.
        await new Promise(resolve => setTimeout(resolve, 50))
        await (seen.body.stream === true ? words : hello)(res, seen)
      })
      const keys = Array.from({ length: KEYS }, () => randomUUID())
      const bodies = [PRICED_CHAT, { ...PRICED_CHAT, stream: true }].map(each => JSON.stringify(each))
      const agent = new http.Agent({ keepAlive: true, maxSockets: CONCURRENCY })
      const answers = keys.map(() => new Set<string>())
      let [next, made, replayed, refused] = [0, 0, 0, 0]
      /** On a busy machine the database may be late: the answer says so, and the request is repeated as it asks. */
      const untilAnswered = async (send: () => Promise<Answer>): Promise<Answer> => {
        for (;;) {
          const answer = await send()
          if (answer.status !== 500) return answer
          refused++
          expect(answer.text).toContain('config_unavailable')
          await new Promise(resolve => setTimeout(resolve, answer.retryAfterSeconds * 1000))
        }
      }
      const startedAt = performance.now()
      const caller = async (): Promise<void> => {
        while (next < REQUESTS) {
          const n = next++
          // Each key's requests are spread over the whole run and over all gateways.
          const index = n % KEYS
          const gateway = gateways[Math.floor(n / KEYS) % gateways.length] as Gateway
          const answer = await untilAnswered(() =>
            post(agent, gateway.url, key, keys[index] as string, bodies[index % 2] as string),
          )
          expect(answer.status).toBe(200)
          // A first stream may have comments against silence, which are sent to it alone.
          answers[index]?.add(answer.text.replaceAll(': keep-alive\n\n', ''))
          if (answer.isReplay) replayed++
          else made++
        }
      }
      await Promise.all(Array.from({ length: CONCURRENCY }, caller))
      const seconds = (performance.now() - startedAt) / 1000
      agent.destroy()
      console.log(
        `${REQUESTS} requests over ${KEYS} keys on ${gateways.length} gateways: ${calls} provider calls, ` +
          `${replayed} replays, ${refused} refused for a late database, ${seconds.toFixed(1)} s`,
      )
      expect([calls, made, replayed]).toEqual([KEYS, KEYS, REQUESTS - KEYS])
      expect(answers.map(({ size }) => size)).toEqual(Array(KEYS).fill(1))
      const charges = async (): Promise<number> => {
        const { rows } = await app.database.pool.query(
          'select from usage_records where key_id = $1 and status = 200',
          [(await budget()).scope_ref],
        )
        return rows.length
      }
      await expect.poll(charges, { timeout: 60_000 }).toBe(KEYS)
    }, 300_000)

    test('a gateway that is killed in the middle of an answer leaves its key free for one that waits elsewhere', async () => {
      const { app, upstream } = fleet.limited
      const [first, second, third] = gateways as [Gateway, Gateway, Gateway]
      const waiting: (() => void)[] = []
      const answer: UpstreamAnswer = async (res, seen) => {
        await new Promise<void>(resolve => waiting.push(resolve))
        await completion('hello', { usage: USED })(res, seen)
      }
      upstream.script(answer)
      const before = upstream.requests.length
      const headers = { 'idempotency-key': randomUUID() }
      const killed = first.call(PRICED_CHAT, app.secretKey, headers).catch(() => 'killed')
      await expect.poll(() => waiting.length, { timeout: 60_000 }).toBe(1)
      const others = [second, third].map(async gateway => {
        const response = await gateway.call(PRICED_CHAT, app.secretKey, headers)
        await response.text()
        return response.headers.get('idempotent-replayed') ?? 'made'
      })
      await first.kill()
      expect(await killed).toBe('killed')
      await expect.poll(() => waiting.length, { timeout: 60_000 }).toBe(2)
      for (const answered of waiting) answered()
      expect((await Promise.all(others)).sort()).toEqual(['made', 'true'])
      expect(upstream.requests.length).toBe(before + 2)
    }, 300_000)
  },
)

interface Answer {
  readonly status: number | undefined
  readonly isReplay: boolean
  readonly text: string
  readonly retryAfterSeconds: number
}

/** Cheaper than `fetch`, which would take most of the machine. */
function post(
  agent: http.Agent,
  url: string,
  key: string,
  idempotencyKey: string,
  body: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'idempotency-key': idempotencyKey,
    }
    const request = http.request(`${url}/v1/chat`, { method: 'POST', agent, headers }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', part => {
        text += part
      })
      response.on('end', () => {
        const isReplay = response.headers['idempotent-replayed'] === 'true'
        const retryAfterSeconds = Number(response.headers['retry-after'] ?? 1)
        resolve({ status: response.statusCode, isReplay, text, retryAfterSeconds })
      })
      response.on('error', reject)
    })
    request.on('error', reject)
    request.end(body)
  })
}
