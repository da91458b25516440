import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type DeviceOptions, fromDevice } from '../from-device.ts'
import { RideauClient } from '../rideau-client.ts'
import { forwardTo } from '../testing/forward.ts'
import { type GatewayApp, openGatewayApp } from '../testing/gateway-app.ts'
import { createManualRuntime, type ManualRuntime } from '../testing/manual-runtime.ts'
import { createAndroidDevice, createIosDevice } from '../testing/native-code.ts'
import {
  breakAfter,
  openScriptedServer,
  type Reply,
  type ScriptedServer,
  sendError,
} from '../testing/scripted-server.ts'

// The gateway answers behind a server that counts the requests and replaces the answers that a test scripts.

const CHALLENGE = '/v1/device/challenge'
const ATTEST = '/v1/device/attest'
const ASSERT = '/v1/device/assert'

let gateway: GatewayApp
let real: Reply
let losing: Reply
let server: ScriptedServer
let runtime: ManualRuntime
/** Each test has an address and a key of its own, because the gateway limits what one may ask. */
let address = 0
let publishableKey: string
beforeAll(async () => {
  gateway = await openGatewayApp()
  const options = { address: () => `203.0.113.${address}` }
  real = forwardTo(gateway.gatewayUrl, options)
  losing = forwardTo(gateway.gatewayUrl, { ...options, losesAnswer: true })
})
afterAll(() => gateway.close())
beforeEach(async () => {
  address++
  publishableKey = (await gateway.app.createKey({ kind: 'publishable' })).key
  server = await openScriptedServer()
  runtime = createManualRuntime()
  for (const path of [CHALLENGE, ATTEST, ASSERT, '/v1/models']) server.script(path, real)
})
afterEach(() => server.close())

const open = (device: DeviceOptions['device'], options: Partial<DeviceOptions> = {}): RideauClient => {
  const tokenSource = fromDevice({ publishableKey, device, ...options })
  return new RideauClient({ gatewayUrl: server.url, tokenSource }, runtime)
}
const paths = (): string[] => server.received.map(({ path }) => path)

describe.each([
  ['ios', createIosDevice],
  ['android', createAndroidDevice],
] as const)('%s', (platform, create) => {
  test('attests once, and asserts with the same key from then on', async () => {
    const device = create(gateway.devices)
    const client = open(device)
    await client.listModels()
    runtime.advance(900_000)
    await client.listModels()
    runtime.advance(900_000)
    await client.listModels()
    const gets = paths().filter(path => path !== '/v1/models')
    expect(gets).toEqual([CHALLENGE, ATTEST, CHALLENGE, ASSERT, CHALLENGE, ASSERT])
    expect(device.made).toBe(1)
    expect(client.endUserId).toMatch(/^device:/)
    expect(server.received[0]).toMatchObject({ body: '', method: 'POST' })
    expect(server.received[0]?.headers.authorization).toBe(`Bearer ${publishableKey}`)
    expect(server.received[1]?.json.platform).toBe(platform)
  })

  test('attests a new key where the gateway does not know the stored one', async () => {
    const device = create(gateway.devices)
    const { keyId } = await device.attest('another project')
    await device.storeKeyId(keyId)
    await open(device).listModels()
    const twice = [CHALLENGE, ASSERT, CHALLENGE, ASSERT]
    expect(paths()).toEqual([...twice, CHALLENGE, ATTEST, '/v1/models'])
    await open(device).listModels()
    expect(paths().slice(7)).toEqual([CHALLENGE, ASSERT, '/v1/models'])
    expect(device.made).toBe(2)
  })

  test.each([
    ['refused', () => sendError(401, 'invalid_device_attestation'), 'invalid_device_attestation'],
    ['lost', () => sendError(503, 'signing_key_unavailable'), 'signing_key_unavailable'],
  ])(
    'keeps its end user over a time in which each key is refused and attestations are %s',
    async (_, answer, code) => {
      const device = create(gateway.devices)
      const client = open(device)
      await client.listModels()
      const { endUserId } = client
      client.signOut()
      server.script(ASSERT, sendError(401, 'invalid_device_attestation'))
      server.script(ATTEST, answer())
      await expect(client.listModels()).rejects.toMatchObject({ code })
      server.script(ASSERT, real)
      await client.listModels()
      expect(client.endUserId).toBe(endUserId)
    },
  )

  test('asserts with the key whose id attest stored where the native code has no storeKeyId', async () => {
    const { storeKeyId, ...device } = create(gateway.devices)
    const attest = device.attest.bind(device)
    const storing = {
      ...device,
      async attest(challenge: string) {
        const attested = await attest(challenge)
        await storeKeyId(attested.keyId)
        return attested
      },
    } as DeviceOptions['device']
    await open(storing).listModels()
    await open(storing).listModels()
    expect(paths()).toEqual([CHALLENGE, ATTEST, '/v1/models', CHALLENGE, ASSERT, '/v1/models'])
  })

  test('keeps its key and its end user where one assertion is refused', async () => {
    const device = create(gateway.devices)
    const client = open(device)
    await client.listModels()
    const { endUserId } = client
    client.signOut()
    server.script(ASSERT, sendError(401, 'invalid_device_attestation'), real)
    await client.listModels()
    expect(paths().slice(3)).toEqual([CHALLENGE, ASSERT, CHALLENGE, ASSERT, '/v1/models'])
    expect([device.made, client.endUserId]).toEqual([1, endUserId])
    const challenges = server.received.filter(({ path }) => path === ASSERT).map(({ json }) => json.challenge)
    expect(new Set(challenges).size).toBe(2)
  })

  test('asserts with the attested key where the answer to its attestation was lost', async () => {
    const device = create(gateway.devices)
    server.script(ATTEST, losing)
    await open(device).listModels()
    expect(paths()).toEqual([CHALLENGE, ATTEST, CHALLENGE, ASSERT, '/v1/models'])
    expect(device.made).toBe(1)
  })

  test('attests a new key where the attestation itself was lost', async () => {
    const device = create(gateway.devices)
    server.script(ATTEST, breakAfter(), real)
    await open(device).listModels()
    const twice = [CHALLENGE, ASSERT, CHALLENGE, ASSERT]
    expect(paths()).toEqual([CHALLENGE, ATTEST, ...twice, CHALLENGE, ATTEST, '/v1/models'])
    expect(device.made).toBe(2)
  })

  test('takes another challenge for each assertion', async () => {
    const device = create(gateway.devices)
    const client = open(device)
    await client.listModels()
    client.signOut()
    server.script(ASSERT, losing, sendError(503, 'x'), real)
    await client.listModels()
    const challenges = server.received.filter(({ path }) => path === ASSERT).map(({ json }) => json.challenge)
    expect(challenges).toHaveLength(3)
    expect(new Set(challenges).size).toBe(3)
    expect(device.made).toBe(1)
  })

  test('sends the same attestation again after a 429, which uses no challenge up', async () => {
    const device = create(gateway.devices)
    const limited = sendError(429, 'mint_rate_limit_exceeded', { 'retry-after': '2' })
    server.script(ATTEST, limited, real)
    await open(device).listModels()
    expect(paths()).toEqual([CHALLENGE, ATTEST, ATTEST, '/v1/models'])
    expect(runtime.waits).toEqual([2_125])
    expect(device.made).toBe(1)
  })
})

test('a key that the hardware has lost is replaced', async () => {
  const device = createIosDevice(gateway.devices)
  await device.storeKeyId((await device.attest('before the restore')).keyId)
  await open({ ...device, assert: async () => null }).listModels()
  expect(paths()).toEqual([CHALLENGE, CHALLENGE, ATTEST, '/v1/models'])
})

test('a refused attestation is the end: no further key is made', async () => {
  const device = createIosDevice(gateway.devices)
  server.script(ATTEST, sendError(401, 'invalid_device_attestation'))
  await expect(open(device).listModels()).rejects.toMatchObject({ code: 'invalid_device_attestation' })
  expect(paths()).toEqual([CHALLENGE, ATTEST])
  expect(device.made).toBe(1)
})

test.each([
  [400, 'device_attest_not_configured'],
  [403, 'publishable_key_required'],
  [403, 'end_user_blocked'],
])('a %d %s is thrown as it is', async (status, code) => {
  server.script(CHALLENGE, sendError(status, code))
  await expect(open(createIosDevice(gateway.devices)).listModels()).rejects.toMatchObject({ code })
  expect(paths()).toEqual([CHALLENGE])
})

test('attempts end after two retries', async () => {
  server.script(ATTEST, sendError(503, 'signing_key_unavailable'))
  server.script(ASSERT, sendError(503, 'signing_key_unavailable'))
  const call = open(createIosDevice(gateway.devices)).listModels()
  await expect(call).rejects.toMatchObject({ code: 'signing_key_unavailable' })
  expect(paths()).toEqual([CHALLENGE, ATTEST, CHALLENGE, ASSERT, CHALLENGE, ASSERT])
  expect(runtime.waits).toHaveLength(2)
})

test('concurrent calls attest one key', async () => {
  const device = createAndroidDevice(gateway.devices)
  const client = open(device)
  await Promise.all(Array.from({ length: 8 }, () => client.listModels()))
  expect(device.made).toBe(1)
  expect(server.countOf(ATTEST)).toBe(1)
})

test('scopes, lifetime and the DeviceCheck token are sent where given', async () => {
  const device = createIosDevice(gateway.devices)
  const attest = device.attest.bind(device)
  const withToken = {
    ...device,
    attest: async (text: string) => ({ ...(await attest(text)), deviceCheckToken: 'dc' }),
  }
  await open(withToken, { scopes: ['ai.chat'], ttlSeconds: 60 }).listModels()
  const { challenge, ...body } = server.received[1]?.json ?? {}
  expect(body).toEqual({
    platform: 'ios',
    key_id: expect.any(String),
    attestation_object: expect.any(String),
    device_check_token: 'dc',
    scopes: ['ai.chat'],
    ttl_seconds: 60,
  })
  expect(challenge).toHaveLength(43)
})

test('native code that fails is a RideauTokenError with its cause', async () => {
  const device = {
    ...createIosDevice(gateway.devices),
    attest: () => Promise.reject(new Error('not supported')),
  }
  await expect(open(device).listModels()).rejects.toMatchObject({
    name: 'RideauTokenError',
    cause: { message: 'not supported' },
  })
})
