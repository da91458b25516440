import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  completion,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'
import { openRaw } from '../../testing/harness/raw-connection.ts'

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  upstream = await openScriptedUpstream()
  app = await openTestApp()
  await app.addCredential('custom', { api_key: 'k', base_url: upstream.baseUrl })
})

afterAll(async () => {
  await app.close()
  await upstream.close()
})

/**
 * Sends a whole chat request and closes the connection, in the same packets or once the provider has the request.
 * Returns its record.
 */
async function leave(when: 'at once' | 'while it is answered') {
  const id = crypto.randomUUID()
  let hasIt = (): void => {}
  const had = new Promise<void>(resolve => {
    hasIt = resolve
  })
  upstream.script((res, seen) => {
    hasIt()
    // Long enough for the gateway to notice the disconnect.
    setTimeout(() => completion('all of it')(res, seen), 200)
  })
  const body = JSON.stringify({ model: 'custom/m', messages: [{ role: 'user', content: 'hi' }] })
  const { socket } = await openRaw(app.gatewayUrl)
  const head = [
    'POST /v1/chat HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${app.secretKey}`,
    `X-Request-Id: ${id}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  const request = `${head.join('\r\n')}\r\n\r\n${body}`
  if (when === 'at once') socket.end(request)
  else {
    socket.write(request)
    await had
    socket.destroy()
  }
  return await app.findLog(id)
}

describe.each(['at once', 'while it is answered'] as const)('a caller that disconnects %s', when => {
  test('ends its request if on_client_gone is cancel', async () => {
    await app.manage('PATCH', `/v1/environments/${app.developmentId}`, { on_client_gone: 'cancel' })
    expect(await leave(when)).toMatchObject({ error_code: 'request_canceled' })
  })

  test('is billed for the whole answer if on_client_gone is drain', async () => {
    await app.manage('PATCH', `/v1/environments/${app.developmentId}`, { on_client_gone: 'drain' })
    expect(await leave(when)).toMatchObject({ status: 200, error_code: null, usage_estimated: false })
  })
})
