import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'
import { openRaw } from '../../testing/harness/raw-connection.ts'

/** The `user` of a body, which is kept with the log and is never an identity. */
let app: TestApp

beforeAll(async () => {
  app = await openTestApp()
})

afterAll(() => app.close())

const MESSAGES = [{ role: 'user', content: 'hi' }]

/** Returns the log of a request. */
async function logOf(route: string, body: object): Promise<{ user: unknown; end_user_id: unknown }> {
  const response = await app.call(route, body)
  expect(response.status).toBe(200)
  const id = response.headers.get('x-request-id') as string
  const read = async () => await app.manage('GET', `/v1/logs/${id}`)
  await expect.poll(async () => (await read()).status).toBe(200)
  return (await read()).body
}

test.each<[string, string, object]>([
  ['/v1/chat', '/v1/chat', { model: 'sandbox/echo', messages: MESSAGES, user: 'u-17' }],
  [
    'chat completions',
    '/openai/v1/chat/completions',
    { model: 'sandbox/echo', messages: MESSAGES, user: 'u-17' },
  ],
  ['responses', '/openai/v1/responses', { model: 'sandbox/echo', input: 'hi', user: 'u-17' }],
  [
    'messages',
    '/anthropic/v1/messages',
    { model: 'sandbox/echo', max_tokens: 10, messages: MESSAGES, metadata: { user_id: 'u-17' } },
  ],
  ['embeddings', '/openai/v1/embeddings', { model: 'sandbox/embed', input: 'hi', user: 'u-17' }],
  ['images', '/openai/v1/images/generations', { model: 'sandbox/image', prompt: 'a cat', user: 'u-17' }],
])('%s: is a field of the log', async (_, route, body) => {
  expect(await logOf(route, body)).toMatchObject({ user: 'u-17', end_user_id: null })
})

test('a long one is cut to 256 characters, an absent one is null', async () => {
  const body = { model: 'sandbox/echo', messages: MESSAGES }
  expect(await logOf('/openai/v1/chat/completions', { ...body, user: 'x'.repeat(100_000) })).toMatchObject({
    user: `${'x'.repeat(255)}…`,
  })
  expect((await logOf('/v1/chat', body)).user).toBeNull()
})

test('the header X-Rideau-End-User is UTF-8: a blocked end user is blocked by it, and another encoding is refused', async () => {
  const users = `/v1/environments/${app.developmentId}/end-users`
  const { body: user } = await app.manage('POST', users, { external_id: 'José' })
  await app.manage('POST', `/v1/end-users/${user.id}/block`, {})
  const ask = async (bytes: Buffer): Promise<unknown> => {
    const headers = { 'x-rideau-end-user': bytes.toString('latin1') }
    const answer = await app.call('/v1/chat', { model: 'sandbox/echo', messages: MESSAGES }, { headers })
    const { error } = (await answer.json()) as { error?: { code: string; param: string | null } }
    return [answer.status, error?.code, error?.param]
  }
  expect(await ask(Buffer.from('José'))).toEqual([403, 'end_user_blocked', null])
  expect(await ask(Buffer.from('Josè'))).toEqual([200, undefined, undefined])
  expect(await ask(Buffer.from('José', 'latin1'))).toEqual([
    ...[400, 'request_validation_failed', 'X-Rideau-End-User'],
  ])
})

test('the header X-Rideau-End-User is refused if it is sent twice: joined, its values would name a further end user', async () => {
  const connection = await openRaw(app.gatewayUrl)
  const body = JSON.stringify({ model: 'sandbox/echo', messages: MESSAGES })
  const head = [
    'POST /v1/chat HTTP/1.1',
    'Host: gateway',
    `Authorization: Bearer ${app.secretKey}`,
    `Content-Length: ${body.length}`,
    'X-Rideau-End-User: mallory',
    'x-rideau-end-user: alice',
  ]
  connection.socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  const answer = await connection.until('"doc_url"')
  connection.socket.destroy()
  expect(answer).toMatch(/^HTTP\/1.1 400 .*"request_validation_failed".*"param":"X-Rideau-End-User"/s)
})
