import { afterAll, beforeAll, expect, test } from 'vitest'
import { json, openScriptedUpstream, type ScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, TEST_OVERRIDES, type TestApp } from '../../testing/harness/app.ts'

const MiB = 1024 * 1024
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

let app: TestApp
let upstream: ScriptedUpstream
let host: ScriptedUpstream
beforeAll(async () => {
  const times = { fetchTimes: { timeoutMs: 5_000, failureMs: 5_100 } }
  const overrides = { ...TEST_OVERRIDES, ...times, callerEgress: { allowPrivate: true } }
  app = await openTestApp({ RIDEAU_BODY_BYTES: String(32 * MiB) }, overrides)
  upstream = await openScriptedUpstream()
  host = await openScriptedUpstream()
  host.script((res, { path }) => {
    res.writeHead(200, { 'content-type': 'image/png' })
    res.end(Buffer.concat([PNG, Buffer.alloc(Number(path.slice(1)) * MiB)]))
  })
  await app.addCredential('gemini', { api_key: 'k', base_url: upstream.baseUrl })
})
afterAll(async () => {
  await Promise.all([upstream.close(), host.close()])
  await app.close()
})

const ask = async (size: number, uses = 1): Promise<[number, string | undefined]> => {
  const image_url = { url: `${host.origin}/${size}` }
  const content = Array.from({ length: uses }, () => ({ type: 'image_url', image_url }))
  const messages = [{ role: 'user', content }]
  const response = await app.call('/openai/v1/chat/completions', {
    model: 'gemini/gemini-2.5-flash',
    messages,
  })
  const { error } = (await response.json()) as { error?: { code: string } }
  return [response.status, error?.code]
}
const good = json(200, { candidates: [{ content: { parts: [{ text: 'A cat.' }] }, finishReason: 'STOP' }] })

test('fetched images count as part of the body, and are given back with it', async () => {
  upstream.script(good)
  // A key alone may hold about a third of 32 MiB.
  expect(await ask(18)).toEqual([429, 'concurrency_limit_exceeded'])
  for (let round = 0; round < 3; round++) {
    upstream.script(good)
    expect(await ask(8)).toEqual([200, undefined])
  }
  const before = upstream.requests.length
  // The provider answers once a request was refused, so that all three are there at the same time.
  let release = (): void => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  upstream.script(async (res, seen) => {
    await released
    await good(res, seen)
  })
  const asked = [ask(8), ask(8), ask(8)]
  await Promise.race(asked)
  release()
  const codes = (await Promise.all(asked)).map(([status]) => status)
  expect(codes).toContain(429)
  expect(upstream.requests.length - before).toBe(codes.filter(status => status === 200).length)
})

test('every use of a fetched image counts, once for all attempts', async () => {
  upstream.script(good)
  expect(await ask(2, 9)).toEqual([429, 'concurrency_limit_exceeded'])
  upstream.script(json(503, { error: { code: 503, status: 'UNAVAILABLE' } }), good)
  expect(await ask(2, 7)).toEqual([200, undefined])
})
