import type { Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { completion } from '../../testing/fakes/scripted-upstream.ts'
import { type LimitedApp, openLimitedApp, PRICED } from '../../testing/harness/limited-app.ts'
import { makePlaygroundToken } from '../../testing/harness/playground-token.ts'
import { openRaw } from '../../testing/harness/raw-connection.ts'

/** Whole answers that were made and that their callers do not read. */

const MiB = 1024 * 1024
const SENT = 6
const SOON = { timeout: 30_000 }

let limited: LimitedApp
const sockets: Socket[] = []

beforeAll(async () => {
  // A key that is alone gets 61 MiB of them, a member with a token of its own 38 MiB.
  limited = await openLimitedApp({ RIDEAU_ANSWER_BYTES: String(128 * MiB) })
})
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})
afterAll(() => limited.close())

const CHAT = { model: PRICED, messages: [{ role: 'user', content: 'hi' }] }

/** Sends a chat over a connection of its own and reads nothing of the answer. Returns once the answer is recorded. */
async function sendUnread(key: string): Promise<{ log: any; read: () => Promise<number> }> {
  const { socket } = await openRaw(limited.app.gatewayUrl)
  sockets.push(socket)
  const closed = new Promise<void>(resolve => socket.on('close', () => resolve()))
  socket.on('error', () => {})
  socket.pause()
  const id = crypto.randomUUID()
  const text = JSON.stringify(CHAT)
  socket.write(
    `POST /v1/chat HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nX-Request-Id: ${id}\r\n` +
      `Connection: close\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  )
  return {
    log: await limited.app.findLog(id),
    /** Reads what is left and returns how many bytes came in all. */
    async read() {
      socket.resume()
      await closed
      return socket.bytesRead
    },
  }
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${limited.app.metricsUrl}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
}

test.each([
  ['a key', 61, 20, async () => limited.app.secretKey],
  ['a client token', 38, 18, async () => makePlaygroundToken(limited.app)],
] as const)(
  'unread answers of %s take at most %i MiB, and the oldest go first',
  async (_, maxMiB, eachMiB, find) => {
    const answerBytes = eachMiB * MiB
    limited.upstream.script(completion('x'.repeat(answerBytes)))
    const key = await find()
    await expect.poll(() => metric('rideau_answer_bytes'), SOON).toBe(0)
    const before = await metric('rideau_unread_answers_dropped_total')
    const sent = []
    for (let at = 0; at < SENT; at++) {
      const each = await sendUnread(key)
      // It was made for this caller, so it is billed.
      expect(each.log).toMatchObject({ status: 200, usage: { output_tokens: 3 } })
      sent.push(each)
    }
    const kept = Math.floor((maxMiB * MiB) / answerBytes)
    const dropped = SENT - kept
    await expect.poll(() => metric('rideau_unread_answers_dropped_total'), SOON).toBe(before + dropped)
    expect(await metric('rideau_answer_bytes')).toBeLessThanOrEqual(maxMiB * MiB)
    // Who reads gets its answer, with the same credential and with another one.
    for (const each of [key, (await limited.app.createKey({})).key]) {
      const answer = await limited.app.call('/v1/chat', CHAT, { key: each })
      expect((await answer.text()).length).toBeGreaterThan(answerBytes)
      // One more went, to make room for it. Until it is known that it was read, it takes room too.
      await expect.poll(() => metric('rideau_answer_bytes'), SOON).toBeLessThan(kept * answerBytes)
    }
    const bytes = await Promise.all(sent.map(each => each.read()))
    expect(bytes.map(each => each > answerBytes)).toEqual(sent.map((_each, at) => at > dropped))
  },
)
