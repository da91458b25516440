import type { ServerResponse } from 'node:http'
import { readThreadMs } from '@rideau/llm/testing/read-thread-ms'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openScriptedUpstream, type ScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

/** Whoever owns a credential may have a provider of his own, whose answers other tenants must not feel. */

let app: TestApp
let upstream: ScriptedUpstream
beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const provider of ['gemini', 'openai']) {
    await app.addCredential(provider, { api_key: 'key', base_url: upstream.baseUrl })
  }
})
afterAll(async () => {
  await upstream.close()
  await app.close()
})

/** How much this thread worked at most between two timers while `work` ran, in milliseconds. */
async function longestTick(work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let last = readThreadMs()
  const timer = setInterval(() => {
    const now = readThreadMs()
    longest = Math.max(longest, now - last)
    last = now
  }, 1)
  await work()
  clearInterval(timer)
  return longest
}

test.each([
  ['gemini/gemini-2.5-flash-preview-tts', 'application/json', `{"a":[${'{},'.repeat(600_000)}{}]}`],
  ['openai/gpt-4o-mini-tts', 'text/event-stream', `data: {"a":[${'{},'.repeat(400_000)}{}]}\n\n`.repeat(3)],
])('an answer of %s with millions of values is refused, and holds up nobody', async (model, type, text) => {
  const startedAt = readThreadMs()
  for (const line of text.split('\n\n')) if (line !== '') JSON.parse(line.replace('data: ', ''))
  const parseMs = readThreadMs() - startedAt
  // Several, since an answer that cannot be read is asked for again.
  upstream.script(
    ...Array.from({ length: 4 }, () => (res: ServerResponse) => {
      res.writeHead(200, { 'content-type': type })
      res.end(text)
    }),
  )
  const heldMs = await longestTick(async () => {
    const response = await app.call('/openai/v1/audio/speech', { model, input: 'Hi', voice: 'Kore' })
    expect(response.status).toBe(503)
    await response.text()
  })
  expect(heldMs).toBeLessThan(parseMs / 2)
})
