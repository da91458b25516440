import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { toClientConfig, withDatabase } from './connection.ts'
import { openPool } from './pool.ts'

const SOCKET = { host: '/run/rideau', port: 5432, user: 'postgres', database: 'postgres' }

describe('the configuration of a client', () => {
  test('is the given URL, with limits for unreachable and dead servers', () => {
    const url = 'postgres://rideau:secret@db.example:6432/rideau?sslmode=require'
    expect(toClientConfig(url)).toEqual({
      connectionString: url,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      connectionTimeoutMillis: 10_000,
      fallback_application_name: 'rideau',
    })
  })

  test('never uses TLS for a socket', () => {
    expect(toClientConfig(SOCKET)).toMatchObject({ ...SOCKET, ssl: false })
  })
})

test('a pool begins with parameters that PgBouncer accepts, and no others', async () => {
  let received = Buffer.alloc(0)
  const server = createServer(socket => {
    socket.once('data', data => {
      received = data
      socket.destroy()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const pool = openPool(`postgres://someone@127.0.0.1:${port}/something`, () => {})
  try {
    await expect(pool.query('select 1')).rejects.toThrow()
    // The length and the version of the protocol come first, each name and value ends with a zero byte, and so does the list.
    const texts = received.toString('utf8', 8).split('\0')
    const names = texts.filter((text, index) => index % 2 === 0 && text !== '')
    expect(names.sort()).toEqual(['application_name', 'client_encoding', 'database', 'user'])
  } finally {
    await pool.end()
    server.close()
  }
})

describe('another database', () => {
  test.each([
    ['postgres://a:b@host:1/old?sslmode=require', 'new', 'postgres://a:b@host:1/new?sslmode=require'],
    ['postgres://host', 'new', 'postgres://host/new'],
    ['postgres://host/old', 'a b/c?d', 'postgres://host/a%20b%2Fc%3Fd'],
    ['postgres://u@localhost:1/old?host=%2Frun%2Fx', 'new', 'postgres://u@localhost:1/new?host=%2Frun%2Fx'],
  ])('for %s named %s is %s', (url, name, expected) => {
    expect(withDatabase(url, name)).toBe(expected)
  })

  test('keeps the server of a socket', () => {
    expect(withDatabase(SOCKET, 'new')).toEqual({ ...SOCKET, database: 'new' })
  })
})
