import { readThreadMs } from '@rideau/llm/testing/read-thread-ms'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FormatHarness, openFormatHarness } from '../../testing/harness/format-harness.ts'

/** Texts of a client token that took the event loop for as long as their length squared. Each took minutes. */

let harness: FormatHarness
beforeAll(async () => {
  harness = await openFormatHarness()
})
afterAll(() => harness.close())

/** CPU time of this thread, in which the gateway runs too. */
const MAX_MS = 2_000

async function timed<T>(work: () => Promise<T>): Promise<T> {
  const startedAt = readThreadMs()
  const result = await work()
  expect(readThreadMs() - startedAt).toBeLessThan(MAX_MS)
  return result
}

test('cuts an answer of the sandbox behind a character, whatever the characters are', async () => {
  const ask = async (content: string, max_tokens: number): Promise<string> => {
    const body = { model: 'sandbox/echo', max_tokens, messages: [{ role: 'user', content }] }
    const call = () => harness.app.call('/openai/v1/chat/completions', body, { key: harness.token })
    const { choices } = (await (await timed(call)).json()) as any
    return choices[0].message.content
  }
  const marks = '\ufffd'.repeat(400_000)
  expect(await ask(`${marks}x${'y'.repeat(100)}`, 300_001)).toBe(`${marks}xyyy`)
  expect(await ask('aé€😀b', 1)).toBe('aé')
  expect(await ask('abcé', 1)).toBe('abc')
  expect(await ask('ab\ufffd\ufffd', 1)).toBe('ab')
})

test('refuses an address of a file in megabytes, and checks the longest one at once', async () => {
  const slashes = (bytes: number): string => `https://x.example/v1/files${'%2f'.repeat(bytes / 3)}/x/y`
  const send = (fileUri: string, key?: string) => {
    const parts = Array.from({ length: 500 }, () => ({ fileData: { fileUri, mimeType: 'image/png' } }))
    const contents = [{ role: 'user', parts }]
    return timed(() => harness.send('gemini-content', 'gemini-content', { contents }, key))
  }
  const refused = { status: 400, param: 'contents[0].parts[0].fileData.fileUri' }
  expect(await send(slashes(60_000), harness.token)).toMatchObject(refused)
  // To this server, whose address its owner chose, a client token may send no address.
  expect(await send(slashes(8_100), harness.token)).toMatchObject(refused)
  expect(await send(slashes(8_100))).toMatchObject({ status: 200 })
})

test('reads a data URL with a million parameters', async () => {
  const send = (url: string) => {
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }]
    return timed(() => harness.send('openai-chat', 'anthropic-messages', { messages }, harness.token))
  }
  const { sent } = await send(`data:image/JPG${';a'.repeat(4_000_000)};base64,QUJD`)
  expect(JSON.stringify(sent)).toContain('"source":{"type":"base64","media_type":"image/jpeg","data":"QUJD"}')
  expect((await send(`data:${';a'.repeat(4_000_000)}`)).status).toBe(200)
})
