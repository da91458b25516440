import type { Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { streamedCompletion } from '../../testing/fakes/scripted-upstream.ts'
import { type LimitedApp, openLimitedApp, PRICED } from '../../testing/harness/limited-app.ts'
import { openRaw } from '../../testing/harness/raw-connection.ts'

/** Replays of a long stream, which is whole in memory for each caller, and that their callers do not read. */

const MiB = 1024 * 1024
const SENT = 8
const SOON = { timeout: 30_000 }

let limited: LimitedApp
const sockets: Socket[] = []
beforeAll(async () => {
  // A key that is alone gets a little over half of them.
  limited = await openLimitedApp({ RIDEAU_ANSWER_BYTES: String(128 * MiB) })
  limited.upstream.script(streamedCompletion(...Array.from({ length: 448 }, () => 'x'.repeat(MiB / 32))))
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await limited.close()
})

const CHAT = { model: PRICED, messages: [{ role: 'user', content: 'hi' }], stream: true }
const KEY = 'replayed'

/** Asks for the stream over a connection of its own, and reads nothing after the head of the answer. */
async function sendUnread(): Promise<void> {
  const { socket, until } = await openRaw(limited.app.gatewayUrl)
  sockets.push(socket)
  const text = JSON.stringify(CHAT)
  socket.write(
    `POST /v1/chat HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${limited.app.secretKey}\r\n` +
      `Idempotency-Key: ${KEY}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  )
  expect(await until('\r\n\r\n')).toContain('Idempotent-Replayed: true')
  socket.pause()
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${limited.app.metricsUrl}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
}

test('unread replays of a stream take at most the share of their key, and who reads gets its replay', async () => {
  const ask = async () => {
    const headers = { 'idempotency-key': KEY }
    return await limited.app.call('/v1/chat', CHAT, { headers })
  }
  const first = (await (await ask()).text()).length
  expect(first).toBeGreaterThan(14 * MiB)
  for (let at = 0; at < SENT; at++) await sendUnread()
  const held = await metric('rideau_answer_bytes')
  expect([held > 42 * MiB, held < 80 * MiB]).toEqual([true, true])
  expect(await metric('rideau_unread_answers_dropped_total')).toBe(SENT - Math.round(held / first))
  const replay = await ask()
  expect([replay.headers.get('idempotent-replayed'), (await replay.text()).length]).toEqual(['true', first])
  for (const socket of sockets) socket.destroy()
  await expect.poll(() => metric('rideau_answer_bytes'), SOON).toBe(0)
})
