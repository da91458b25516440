import http from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { ModelListEntry } from '@rideau/llm/formats/shared/listed-model'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Environment } from '../../core/tenancy/tenancy.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'
import { openRaw } from '../../testing/harness/raw-connection.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import { ModelLists } from './model-lists.ts'

const MiB = 1024 * 1024
const SOON = { timeout: 30_000 }

describe('lists in memory', () => {
  const model = { id: 'a/b' } as ModelListEntry

  function open(maxBytes?: number) {
    const made: string[] = []
    const lists = new ModelLists(
      {
        *collect({ caller }) {
          yield
          made.push(String(caller.keyId))
          return [model, model]
        },
        nameRights: ({ caller }) => String(caller.keyId),
      },
      maxBytes,
    )
    return { made, lists }
  }

  const call = (keyId: string, environment: object): IdentifiedContext =>
    ({ caller: { keyId }, environment: environment as Environment }) as IdentifiedContext

  test('a list is made once for a version of an environment and rights, also for concurrent requests', async () => {
    const { made, lists } = open()
    const [old, changed] = [{}, {}]
    await Promise.all([lists.list(call('k', old)), lists.list(call('k', old)), lists.list(call('l', old))])
    await lists.list(call('k', old))
    expect(made).toEqual(['k', 'l'])
    await lists.list(call('k', changed))
    expect(made).toEqual(['k', 'l', 'k'])
  })

  test('lists above the bound of bytes are dropped, those used longest ago first', async () => {
    const { made, lists } = open(1200)
    const environment = {}
    for (const key of ['k', 'l', 'k', 'm', 'k', 'l']) await lists.list(call(key, environment))
    expect(made).toEqual(['k', 'l', 'm', 'l'])
    expect(lists.bytes).toBeLessThanOrEqual(1200)
  })

  test('lists of an organization with many push out none of another', async () => {
    const { made, lists } = open(3000)
    const [busy, other] = [{ orgId: 'busy' }, { orgId: 'other' }]
    await lists.list(call('k', other))
    for (let key = 0; key < 20; key++) await lists.list(call(`busy ${key}`, busy))
    await lists.list(call('k', other))
    expect(made.filter(key => key === 'k')).toEqual(['k'])
    // Its own newest ones stay.
    await lists.list(call('busy 19', busy))
    expect(made).toHaveLength(21)
    expect(lists.bytes).toBeLessThanOrEqual(3000)
  })

  test('a list that cannot be made is asked for again by the next request', async () => {
    let attempts = 0
    const lists = new ModelLists({
      *collect() {
        yield
        if (++attempts === 1) throw new Error('once')
        return [model]
      },
      nameRights: () => '',
    })
    const ctx = call('k', {})
    await expect(lists.list(ctx)).rejects.toThrow('once')
    expect(await lists.list(ctx)).toEqual([model])
  })
})

describe('lists of the gateway', () => {
  let app: TestApp
  const sockets: Socket[] = []

  beforeAll(async () => {
    // The least that may be set, of which a key that is alone gets about half.
    app = await openTestApp({ RIDEAU_ANSWER_BYTES: String(64 * MiB) })
    for (const provider of ['openai', 'openrouter', 'mistral', 'bedrock'])
      await app.addCredential(provider, {
        api_key: 'k',
        base_url: 'http://127.0.0.1:1/v1',
        ...OPTIONS[provider],
      })
  })
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
  })
  afterAll(() => app.close())

  const OPTIONS: Record<string, object> = { bedrock: { options: { region: 'us-east-1' } } }

  async function list(key: string): Promise<string[]> {
    const answer = await fetch(`${app.gatewayUrl}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
    return ((await answer.json()) as any).data.map(({ id }: { id: string }) => id)
  }

  async function metric(name: string): Promise<number> {
    const text = await (await fetch(`${app.metricsUrl}/metrics`)).text()
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
  }

  /** Sends requests in one packet and reads nothing of the answers. */
  async function sendUnread(route: string, count: number): Promise<Socket> {
    const { socket } = await openRaw(app.gatewayUrl)
    sockets.push(socket)
    socket.on('error', () => {})
    socket.pause()
    const request = `GET ${route} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${app.secretKey}\r\n\r\n`
    socket.write(request.repeat(count))
    return socket
  }

  test('a list shows what a change of the environment or of the key has added and removed', async () => {
    const { id, key } = await app.createKey({ restrictions: { allowed_models: ['openai/gpt-4o', 'fast'] } })
    expect(await list(key)).toEqual(['openai/gpt-4o'])
    const alias = { alias: 'fast', strategy: 'priority', targets: [{ model: 'openai/gpt-4o-mini' }] }
    await app.manage('POST', `/v1/environments/${app.developmentId}/model-aliases`, alias)
    expect(await list(key)).toEqual(['fast', 'openai/gpt-4o'])
    expect((await list(app.secretKey)).length).toBeGreaterThan(100)
    await app.manage('PATCH', `/v1/keys/${id}`, { restrictions: { allowed_models: ['fast'] } })
    expect(await list(key)).toEqual(['fast'])
  })

  describe('with all the models that an environment may have', () => {
    const names = Array.from({ length: 4_900 }, (_, at) => `m${at}`)
    const provider = http.createServer((_, res) => {
      res.writeHead(200, { 'content-type': 'application/json' })
      res.end(JSON.stringify({ object: 'list', data: names.map(id => ({ id, object: 'model' })) }))
    })

    beforeAll(async () => {
      await new Promise<void>(resolve => provider.listen(0, '127.0.0.1', resolve))
      const base_url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`
      for (const name of ['a', 'b', 'c', 'd'])
        await app.addCredential(`custom-${name}`, { api_key: 'k', base_url })
    })
    afterAll(() => void provider.close())

    test('the list has them once the providers have told their own', async () => {
      const length = async () => (await list(app.secretKey)).length
      await expect.poll(length, SOON).toBeGreaterThan(4 * names.length)
    })

    // The kernel takes some 10 MB of a connection that its caller does not read, so its second or third list waits here.
    test('unread lists count as answers, and their callers are disconnected above the share', async () => {
      const unread: Socket[] = []
      for (let count = 0; count < 12; count++) unread.push(await sendUnread('/v1/models', 10))
      await expect.poll(() => metric('rideau_unread_answers_dropped_total'), SOON).toBeGreaterThan(0)
      expect(await metric('rideau_answer_bytes')).toBeLessThanOrEqual(64 * MiB)
      for (const socket of unread) socket.resume()
      await expect.poll(() => unread.some(({ destroyed }) => destroyed), SOON).toBe(true)
      // Others are served.
      expect((await list(app.secretKey)).length).toBeGreaterThan(4 * names.length)
      await expect.poll(() => metric('rideau_answer_bytes'), SOON).toBe(0)
    })

    test.each(['/v1/models', '/openai/v1/models', '/anthropic/v1/models'])(
      'answers of %s keep their permit among the open requests until they are read',
      async route => {
        await sendUnread(route, 17)
        await expect.poll(() => metric('rideau_requests_open'), SOON).toBeGreaterThan(0)
        for (const socket of sockets.splice(0)) socket.destroy()
        await expect.poll(() => metric('rideau_requests_open'), SOON).toBe(0)
      },
    )
  })
})
