import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'
import { makePlaygroundToken } from '../../testing/harness/playground-token.ts'

/** Providers' answers that are still arriving, from a server that sends a part of each and then nothing. */

const MiB = 1024 * 1024
const PART_MIB = 11
const SENT = 6
const SOON = { timeout: 30_000 }

let app: TestApp
let provider: http.Server
/** What the server sends of each answer before it falls silent. */
let part: Buffer | string
const answers = new Set<http.ServerResponse>()

beforeAll(async () => {
  provider = http.createServer((req, res) => {
    req.resume()
    req.on('end', () => {
      if (req.method === 'GET') return void res.writeHead(404).end()
      const type = part instanceof Buffer ? 'application/json' : 'text/event-stream'
      res.writeHead(200, { 'content-type': type })
      res.write(part)
      answers.add(res)
    })
  })
  await new Promise<void>(resolve => provider.listen(0, '127.0.0.1', resolve))
  const { port } = provider.address() as AddressInfo
  // A key that is alone gets 61 MiB of them, a member with a token of its own 38 MiB.
  app = await openTestApp({ RIDEAU_ANSWER_BYTES: String(128 * MiB) })
  const credential = { api_key: 'k', base_url: `http://127.0.0.1:${port}/v1` }
  // Two share the load of one provider.
  for (const name of ['custom', 'custom', 'openai']) await app.addCredential(name, credential)
  const targets = [
    { model: 'custom/m', max_retries: 2 },
    { model: 'custom/n', max_retries: 2 },
  ]
  const alias = { alias: 'either', strategy: 'priority', targets }
  const made = await app.manage('POST', `/v1/environments/${app.developmentId}/model-aliases`, alias)
  if (made.status !== 201) throw new Error(`no alias: ${JSON.stringify(made.body)}`)
})
afterEach(() => answers.clear())
afterAll(async () => {
  await app.close()
  provider.closeAllConnections()
  provider.close()
})

const CHAT = { model: 'custom/m', messages: [{ role: 'user', content: 'hi' }] }
const ANSWER = JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'hello' } }] })

async function answerBytes(): Promise<number> {
  const text = await (await fetch(`${app.metricsUrl}/metrics`)).text()
  return Number(/^rideau_answer_bytes (\d+)$/m.exec(text)?.[1])
}

interface Answer {
  readonly choices?: readonly [{ readonly message: { readonly content: string } }]
  readonly error?: { readonly code: string }
}

test.each([
  ['a key', 61, 'custom/m', async () => app.secretKey],
  ['a key', 61, 'either', async () => app.secretKey],
  ['a client token', 38, 'custom/m', async () => makePlaygroundToken(app)],
] as const)(
  'answers that arrive for %s take at most %i MiB, and further ones of %s are 503 provider_overloaded without a further attempt',
  async (_, maxMiB, model, find) => {
    const key = await find()
    part = Buffer.alloc(PART_MIB * MiB, ' ')
    const fitting = Math.floor(maxMiB / PART_MIB)
    const sent = Array.from({ length: SENT }, async () => {
      const answer = await app.call('/v1/chat', { ...CHAT, model }, { key })
      const { choices, error } = (await answer.json()) as Answer
      return [answer.status, choices?.[0].message.content ?? error?.code]
    })
    expect(await Promise.race(sent)).toEqual([503, 'provider_overloaded'])
    await expect.poll(async () => Math.floor((await answerBytes()) / MiB), SOON).toBe(PART_MIB * fitting)
    expect(answers.size).toBe(SENT)
    // Another key gets its answer meanwhile.
    part = Buffer.from(' '.repeat(4 * MiB) + ANSWER)
    const other = app.call('/v1/chat', CHAT, { key: (await app.createKey({})).key })
    await expect.poll(() => answers.size, SOON).toBe(SENT + 1)
    for (const answer of answers) answer.end(answer === [...answers].at(-1) ? '' : ANSWER)
    expect((await other).status).toBe(200)
    const results = await Promise.all(sent)
    expect(results.filter(([status]) => status === 200)).toEqual(
      Array.from({ length: fitting }, () => [200, 'hello']),
    )
    await expect.poll(answerBytes, SOON).toBe(0)
  },
)

const chunk = (content: string, finish?: string): string =>
  `data: ${JSON.stringify({ id: 'a', choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`
const LAST = `${chunk('hello', 'stop')}data: [DONE]\n\n`

/** Sends a streamed request and returns what the data of its last event is. */
async function readLast(route: string, body: object): Promise<any> {
  const answer = await app.call(route, body, { key: app.secretKey })
  const lines = (await answer.text()).split('\n')
  return JSON.parse(lines.findLast(line => /^(?:data: )?\{/.test(line))?.replace('data: ', '') ?? '')
}

test('what open streams keep takes the same shares, and streams without room end with an error', async () => {
  part = chunk('x'.repeat(64 * 1024)).repeat(PART_MIB * 16)
  const sent = Array.from({ length: SENT }, () =>
    readLast('/anthropic/v1/messages', { ...CHAT, max_tokens: 100, stream: true }),
  )
  expect(await Promise.race(sent)).toMatchObject({ type: 'error' })
  const fitting = Math.floor(61 / PART_MIB)
  await expect.poll(async () => Math.round((await answerBytes()) / MiB), SOON).toBe(PART_MIB * fitting)
  for (const answer of answers) answer.end(LAST)
  const types = (await Promise.all(sent)).map(({ type }) => type)
  expect(types.filter(type => type === 'message_stop')).toHaveLength(fitting)
  await expect.poll(answerBytes, SOON).toBe(0)
})

test('what arrives of streams before their first event takes the same shares', async () => {
  part = `: ${' '.repeat(1000 * 1024)}`
  const sent = Array.from({ length: 70 }, () => readLast('/v1/chat', { ...CHAT, stream: true }))
  await expect.poll(() => answers.size, SOON).toBe(70)
  expect(await Promise.race(sent)).toMatchObject({ error: { code: 'provider_overloaded' } })
  expect(await answerBytes()).toBeLessThanOrEqual(61 * MiB)
  for (const answer of answers) answer.end(`\n\n${LAST}`)
  await Promise.all(sent)
  await expect.poll(answerBytes, SOON).toBe(0)
})

test('what a passed stream keeps for an end that a limit may write takes the same shares', async () => {
  const { id, key } = await app.createKey({})
  const limit = { scope: 'key', scope_ref: id, metric: 'tokens', limit: 1_000_000, window_seconds: 3600 }
  expect((await app.manage('POST', `/v1/environments/${app.developmentId}/limits`, limit)).status).toBe(201)
  const image = { type: 'image_generation_call', result: 'A'.repeat(900_000) }
  part = [
    { type: 'response.output_item.done', output_index: 0, item: image },
    { type: 'response.output_text.delta', output_index: 1, delta: 'hello' },
  ]
    .map(event => `data: ${JSON.stringify(event)}\n\n`)
    .join('')
  const body = { model: 'openai/gpt-4.1', input: 'hi', stream: true }
  const sent = Array.from({ length: SENT }, async () =>
    (await app.call('/openai/v1/responses', body, { key })).text(),
  )
  await expect.poll(answerBytes, SOON).toBeGreaterThan(SENT * 900_000)
  for (const answer of answers) answer.end()
  await Promise.all(sent)
  await expect.poll(answerBytes, SOON).toBe(0)
})
