import { generateKeyPairSync } from 'node:crypto'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { jwtVerify } from 'jose'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { GatewayDeps } from '../../gateway/deps.ts'
import { openTestApp, TEST_OVERRIDES, type TestApp } from '../../testing/harness/app.ts'

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
const IOS = { team_id: 'TEAM123456', bundle_ids: ['dev.example.app'], environment: 'production' }
const DEVICE_CHECK = { key_id: 'KEY1234567', private_key: PEM }

let app: TestApp
let deps: GatewayDeps
let apple: http.Server
let answer: (req: IncomingMessage, body: Record<string, unknown>, res: ServerResponse) => void
let asked = 0

beforeAll(async () => {
  apple = http.createServer(async (req, res) => {
    asked++
    const parts: Buffer[] = []
    for await (const part of req) parts.push(part)
    answer(req, JSON.parse(Buffer.concat(parts).toString('utf8')), res)
  })
  await new Promise<void>(resolve => apple.listen(0, '127.0.0.1', resolve))
  const deviceCheckOrigin = `http://127.0.0.1:${(apple.address() as AddressInfo).port}`
  app = await openTestApp({}, { ...TEST_OVERRIDES, deviceCheckOrigin, onDeps: made => (deps = made) })
})
afterAll(async () => {
  await app.close()
  apple.close()
})
beforeEach(async () => {
  asked = 0
  await configure({ ...IOS, device_check: DEVICE_CHECK })
})

async function configure(ios: object): Promise<void> {
  expect((await app.manage('PUT', `/v1/projects/${app.projectId}/device-auth`, { ios })).status).toBe(200)
}

const check = (): Promise<string> => deps.deviceCheck.check('AAAA', app.projectId)

test('Apple is asked with a token of the team, signed by the stored key', async () => {
  let seen: { path: string | undefined; jwt: string; body: Record<string, unknown> } | undefined
  answer = (req, body, res) => {
    seen = { path: req.url, jwt: req.headers.authorization?.slice('Bearer '.length) ?? '', body }
    res.end('{"bit0":false,"bit1":false,"last_update_time":"2026-11"}')
  }
  expect(await check()).toBe('ok')
  expect(seen?.path).toBe('/v1/query_two_bits')
  expect(seen?.body).toMatchObject({ device_token: 'AAAA', timestamp: expect.any(Number) })
  const { payload, protectedHeader } = await jwtVerify(seen?.jwt ?? '', publicKey)
  expect(payload).toEqual({ iss: IOS.team_id, iat: expect.any(Number) })
  expect(protectedHeader).toEqual({ alg: 'ES256', kid: DEVICE_CHECK.key_id })
})

test.each([
  [200, '{"bit0":true,"bit1":false}', 'seen'],
  [200, '{"bit0":false,"bit1":true}', 'banned'],
  [200, '{"bit0":true,"bit1":true}', 'banned'],
  [200, 'Failed to find bit state', 'ok'],
  [200, '{"bit0":"yes"}', 'unknown'],
  [200, 'null', 'unknown'],
  [400, 'Missing or incorrectly formatted device token payload', 'unknown'],
  [401, 'Unable to verify authorization token', 'unknown'],
  [302, '', 'unknown'],
])('the answer %d %s is the verdict %s', async (status, text, verdict) => {
  answer = (_, __, res) => void res.writeHead(status).end(text)
  expect(await check()).toBe(verdict)
  expect(asked).toBe(1)
})

test('the verdict is unknown within 2 seconds of an Apple that is silent', async () => {
  answer = () => {}
  expect(await check()).toBe('unknown')
})

test('asks no host without a stored key', async () => {
  await configure(IOS)
  expect(await check()).toBe('unknown')
  expect(asked).toBe(0)
})
