import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

let app: TestApp
beforeAll(async () => {
  app = await openTestApp()
})
afterAll(() => app.close())

const newKey = async (): Promise<string> => (await app.createKey({ kind: 'secret', name: 'long' })).key
const LONG = 'x'.repeat(2 * 1024 * 1024)
const chat = (key: string, model = 'sandbox/echo') =>
  app.call('/v1/chat', { model, messages: [{ role: 'user', content: LONG }] }, { key })

test('the next long request of a caller whose long requests were refused waits, and not that of another', async () => {
  const [key, another] = [await newKey(), await newKey()]
  const refused = await Promise.all(Array.from({ length: 20 }, () => chat(key, 'nobody/nothing')))
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([404]))
  const order: string[] = []
  const log = async (name: string, answer: Promise<{ status: number }>): Promise<void> => {
    const { status } = await answer
    order.push(`${name} ${status}`)
  }
  await Promise.all([log('first', chat(key)), log('another', chat(another))])
  expect(order).toEqual(['another 200', 'first 200'])
})
