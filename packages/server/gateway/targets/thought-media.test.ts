import { afterAll, beforeAll, expect, test } from 'vitest'
import { json } from '../../testing/fakes/scripted-upstream.ts'
import { type LimitedApp, openLimitedApp } from '../../testing/harness/limited-app.ts'

/** Media of a part counts whatever else the part has: the mark of a thought and other members may stand beside it. */

const ROUTE = '/gemini/v1beta/models/gemini%2Fgemini-3-flash-preview:generateContent'
const MP4 = Buffer.from('000000186674797069736f6d0000020069736f6d', 'hex').toString('base64')
const PDF = btoa('%PDF-1.7 x')

let limited: LimitedApp
let key: string
beforeAll(async () => {
  limited = await openLimitedApp()
  await limited.addCredentials('gemini')
  key = (await limited.app.createKey({ restrictions: { max_request_cost_usd: 0.02 } })).key
})
afterAll(() => limited.close())

async function ask(...parts: object[]) {
  const candidates = [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP' }]
  limited.upstream.script(json(200, { candidates }))
  const body = {
    contents: [{ role: 'user', parts: [{ text: 'a' }, ...parts] }],
    generationConfig: { maxOutputTokens: 64 },
  }
  return await limited.ask(ROUTE, body, key)
}

const media = (mimeType: string, data: string): object => ({ inlineData: { mimeType, data } })
const image = media('image/png', 'iVBORw0KGgo=')

test.each([
  ['a thought', { thought: true }],
  ['a part with a text', { text: 'a' }],
])('media of %s is refused or counted like any other', async (_what, other) => {
  const refused = { status: 400, wasSent: false }
  expect(await ask({ ...other, ...media('video/mp4', MP4) })).toMatchObject(refused)
  expect(await ask({ ...other, ...media('application/pdf', PDF) })).toMatchObject({ ...refused, status: 402 })
  // 30 images of 1,600 tokens at $0.50 a million.
  const images = Array.from({ length: 30 }, () => ({ ...other, ...image }))
  expect(await ask(...images)).toMatchObject({ ...refused, status: 402 })
  expect(await ask({ ...other, ...image })).toMatchObject({ wasSent: true })
})

test('a thought of text alone is sent', async () => {
  expect(await ask({ thought: true, text: 'hm' })).toMatchObject({ status: 200, wasSent: true })
})
