import { afterAll, beforeAll, expect, test } from 'vitest'
import { chunk, openScriptedUpstream, type ScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

/** Streams without an end from a provider that a tenant runs. What is kept until the end of an answer must not fill the memory. */

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  await app.addCredential('custom', { api_key: 'k', base_url: upstream.baseUrl })
})
afterAll(async () => {
  await upstream.close()
  await app.close()
})

const MiB = 1024 * 1024

/** Writes the event for ever. Resolves with the bytes that were written when the connection is closed. */
function scriptEndless(first: string, event: string): Promise<number> {
  return new Promise(resolve => {
    upstream.script(res => {
      const events = event.repeat(Math.max(1, Math.floor((256 * 1024) / event.length)))
      let written = 0
      const write = (): void => {
        if (res.destroyed) return resolve(written)
        written += events.length
        res.write(events, () => setImmediate(write))
      }
      res.on('close', () => resolve(written))
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write(first, write)
    })
  })
}

const call = (index: number, args: string): string =>
  chunk({
    tool_calls: [{ index, id: `c${index}`, type: 'function', function: { name: 'f', arguments: args } }],
  })

const piece = (index: number, args: string): string =>
  chunk({ tool_calls: [{ index, function: { arguments: args } }] })

test.each([
  ['pieces of a call that waits for another one', call(0, '{"a":') + call(1, '{'), piece(1, 'x'), 100 * MiB],
  ['beginnings of a call that waits for another one', call(0, '{"a":'), call(1, 'x'), 100 * MiB],
  ['a text', '', chunk({ content: 'x'.repeat(200_000) }), 160 * MiB],
])(
  'ends a stream that has %s without an end',
  async (_, first, event, most) => {
    const ended = scriptEndless(first, event)
    const body = {
      model: 'custom/m',
      stream: true,
      max_tokens: 64,
      messages: [{ role: 'user', content: 'hi' }],
    }
    const response = await app.call('/anthropic/v1/messages', body)
    expect(response.status).toBe(200)
    let last = ''
    for await (const part of response.body ?? []) last = Buffer.from(part).toString('utf8').slice(-2_000)
    expect(last).toContain('event: error')
    expect(last).toContain('stream_interrupted')
    expect(await ended).toBeLessThan(most)
  },
  60_000,
)
