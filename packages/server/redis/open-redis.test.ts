import { createServer, type Server } from 'node:net'
import type { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { redisProgram, startTestRedis, type TestRedis } from '../testing/harness/redis.ts'
import { openRedis } from './open-redis.ts'

describe.skipIf(redisProgram === undefined)('a Redis client', () => {
  let server: TestRedis
  const clients: Redis[] = []
  beforeAll(async () => {
    server = await startTestRedis()
  })
  afterEach(() => {
    for (const client of clients.splice(0)) client.disconnect()
  })
  afterAll(() => server.stop())

  const connect = async (commandTimeoutMs?: number): Promise<Redis> => {
    const client = openRedis({ url: server.url, name: 'test', commandTimeoutMs })
    clients.push(client)
    await client.connect()
    return client
  }

  test('accepts replies that arrived while the process was busy for longer than the timeout', async () => {
    const client = await connect(50)
    const replies = [client.echo('a'), client.set('key', '1'), client.get('key')]
    const end = Date.now() + 200
    while (Date.now() < end) {}
    expect(await Promise.all(replies)).toEqual(['a', 'OK', '1'])
  })

  test('fails a command without a reply after the timeout, and accepts later ones', async () => {
    const client = await connect(50)
    process.kill(server.pid(), 'SIGSTOP')
    try {
      await expect(client.echo('a')).rejects.toThrow('no reply within 50 ms')
    } finally {
      process.kill(server.pid(), 'SIGCONT')
    }
    await expect.poll(() => client.echo('b').catch(() => undefined)).toBe('b')
  })

  test('fails commands at once while the server is unreachable, and reconnects by itself', async () => {
    const client = await connect(10_000)
    await server.kill()
    await expect.poll(() => client.status).not.toBe('ready')
    await expect(client.echo('a')).rejects.toThrow('enableOfflineQueue')
    await server.start()
    await expect.poll(() => client.echo('b').catch(() => undefined), { timeout: 10_000 }).toBe('b')
  })
})

describe('a Redis client of a server that never answers', () => {
  let silent: Server
  beforeAll(async () => {
    silent = createServer(socket => void socket.resume())
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => silent.close())

  test('is not connected, and gives up its handshake by the same timeout', async () => {
    const { port } = silent.address() as { port: number }
    const client = openRedis({ url: `redis://127.0.0.1:${port}`, name: 'test', commandTimeoutMs: 50 })
    client.connect().catch(() => {})
    await expect.poll(() => client.status, { interval: 5 }).toBe('reconnecting')
    client.disconnect()
  })
})
