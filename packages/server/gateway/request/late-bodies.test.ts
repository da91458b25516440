import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'
import { openRaw } from '../../testing/harness/raw-connection.ts'

/** Requests whose credential or limits change after their head was accepted and before their body has arrived. */

let app: TestApp
beforeAll(async () => {
  app = await openTestApp()
})
afterAll(() => app.close())

const CHAT = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'late' }] }

/** Sends the head, then makes the change, then sends the body. Returns the answer. */
async function callLate(
  credential: string,
  change: () => Promise<unknown>,
  path = '/v1/chat',
  body: object = CHAT,
): Promise<string> {
  const { socket, until } = await openRaw(app.gatewayUrl)
  const text = JSON.stringify(body)
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: gateway',
    'content-type: application/json',
    `content-length: ${text.length}`,
    `authorization: Bearer ${credential}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  await new Promise(resolve => setTimeout(resolve, 500))
  await change()
  socket.write(text)
  await until('\r\n\r\n')
  await new Promise(resolve => setTimeout(resolve, 50))
  socket.destroy()
  const answer = await until('\r\n\r\n')
  const code = /"code":"(\w+)"/.exec(answer)?.[1]
  return [answer.split(' ', 2)[1], code].filter(part => part !== undefined).join(' ')
}

const newKey = () => app.createKey({ kind: 'secret', name: 'late' })

test('200: nothing changed while the body arrived', async () => {
  const { key } = await newKey()
  expect(await callLate(key, async () => {})).toBe('200')
})

test('200: something else of the environment changed while the body arrived', async () => {
  const { key } = await newKey()
  expect(await callLate(key, newKey)).toBe('200')
})

test('401 key_revoked: the key was revoked while the body arrived', async () => {
  const { id, key } = await newKey()
  expect(await callLate(key, () => app.manage('POST', `/v1/keys/${id}/revoke`))).toBe('401 key_revoked')
})

test('429 rate_limit_exceeded: a limit was added while the body arrived', async () => {
  const { id, key } = await newKey()
  const ask = () => app.call('/v1/chat', CHAT, { key })
  const limit = { scope: 'key', scope_ref: id, metric: 'requests', limit: 1, window_seconds: 3600 }
  const change = async () => {
    const { status } = await app.manage('POST', `/v1/environments/${app.developmentId}/limits`, limit)
    expect(status).toBe(201)
    expect((await ask()).status).toBe(200)
  }
  expect(await callLate(key, change)).toBe('429 rate_limit_exceeded')
})

test('403 end_user_blocked: the end user of a client token was blocked while the body arrived', async () => {
  const minted = await app.call('/v1/client-tokens', {
    end_user: { external_id: 'late user' },
    scopes: ['ai.chat'],
  })
  const { token } = (await minted.json()) as { token: string }
  const block = async () => {
    const { body } = await app.manage('GET', `/v1/environments/${app.developmentId}/end-users`)
    const { id } = body.data.find((each: any) => each.external_id === 'late user')
    expect((await app.manage('POST', `/v1/end-users/${id}/block`)).status).toBe(200)
  }
  expect(await callLate(token, block)).toBe('403 end_user_blocked')
})

test('400 invalid_scope: a key lost the scope of a token that it makes while the body arrived', async () => {
  const { id, key } = await newKey()
  const lower = () => app.manage('PATCH', `/v1/keys/${id}`, { scopes: ['ai.embed'] })
  const mint = { end_user: { id: 'another' }, scopes: ['ai.chat'] }
  expect(await callLate(key, lower, '/v1/client-tokens', mint)).toBe('400 invalid_scope')
})
