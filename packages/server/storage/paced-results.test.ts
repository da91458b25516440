import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import type { ClientBase, Pool, QueryConfig } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../testing/harness/database.ts'
import { blockLoop, measureLongestTick } from '../testing/harness/longest-tick.ts'
import { paceResults } from './paced-results.ts'
import { openPool } from './pool.ts'

/** Rows of some 350 bytes, which PostgreSQL sends faster than pg parses them. */
const longResult = (rows: number): string =>
  `select n, (select array_agg(m::float8) from generate_series(1, 48) m) as first,
    (select array_agg(m::float8) from generate_series(1, 48) m) as second, now() as at
  from generate_series(1, ${rows}) n`

const CLIENTS = 8
const clients = Array.from({ length: CLIENTS })

/** A connected client whose parser takes a quarter of a millisecond for each piece. */
function openClient() {
  const stream = new Readable({ read() {} })
  const client = Object.assign(new EventEmitter(), { connection: { stream } })
  let parsedBytes = 0
  stream.on('data', (bytes: Buffer) => {
    for (const until = performance.now() + 0.25; performance.now() < until; );
    parsedBytes += bytes.length
  })
  paceResults(client as unknown as ClientBase)
  /** Returns how much of what the socket brings is parsed at once. */
  const bring = async (bytes: number): Promise<number> => {
    const before = parsedBytes
    stream.push(Buffer.alloc(bytes))
    await Promise.resolve()
    return parsedBytes - before
  }
  return { client, bring, parsedBytes: () => parsedBytes }
}

test('what exceeds the time of a tick waits, and short results do not wait behind it', async () => {
  const [long, other] = [openClient(), openClient()]
  // Both flow from now on.
  await new Promise(resolve => setImmediate(resolve))
  expect(await long.bring(1_000_000)).toBeLessThan(100_000)
  expect(await other.bring(16_384)).toBe(16_384)
  other.client.emit('drain')
  expect(await other.bring(16_384)).toBe(16_384)
  // The rest of a result that was short so far.
  expect(await other.bring(1_000_000)).toBe(0)
  await expect.poll(() => [long.parsedBytes(), other.parsedBytes()]).toEqual([1_000_000, 1_032_768])
})

test('a long result that comes in short chunks, as by TLS, waits too', async () => {
  const { bring, parsedBytes } = openClient()
  await new Promise(resolve => setImmediate(resolve))
  for (let chunk = 0; chunk < 100; chunk++) await bring(4_096)
  expect(parsedBytes()).toBeLessThan(100_000)
  await expect.poll(parsedBytes).toBe(409_600)
})

describe.each(listTestServers())('long results on $label', server => {
  let database: FreshDatabase
  let pool: Pool
  beforeEach(async () => {
    database = await freshDatabase(server)
    pool = openPool(database.connection, () => {}, { max: CLIENTS })
  })
  afterEach(async () => {
    if (!pool.ending) await pool.end()
    await database.drop()
  })

  test('several at once take no long tick, and arrive whole', async () => {
    await Promise.all(clients.map(() => pool.query(longResult(1))))
    let results: { rows: { n: number; second: number[] }[] }[] = []
    const longestMs = await measureLongestTick(async () => {
      const asked = clients.map(() => pool.query(longResult(3_000)))
      setImmediate(blockLoop, 300)
      results = await Promise.all(asked)
    })
    for (const { rows } of results) {
      expect(rows).toHaveLength(3_000)
      expect(rows.every(({ n, second }, index) => n === index + 1 && second[47] === 48)).toBe(true)
    }
    expect(longestMs).toBeLessThan(20)
  })

  test('another connection gets its short results meanwhile', async () => {
    await Promise.all([1, 2].map(() => pool.query('select 1')))
    let isOver = false
    const long = pool.query(longResult(5_000)).finally(() => (isOver = true))
    let short = 0
    while (!isOver) {
      await pool.query('select 1')
      short++
    }
    expect((await long).rows).toHaveLength(5_000)
    // One or two, if they waited for the long result.
    expect(short).toBeGreaterThan(5)
  })

  test('characters and values that pieces cut arrive whole', async () => {
    const { rows } = await pool.query<{ text: string }>(
      `select repeat('a', n % 7) || repeat('€😀', n) as text from generate_series(1, 300) n
      union all select repeat('€', 1000000)`,
    )
    const sent = Array.from({ length: 300 }, (_, at) => 'a'.repeat((at + 1) % 7) + '€😀'.repeat(at + 1))
    expect(rows.map(({ text }) => text)).toEqual([...sent, '€'.repeat(1_000_000)])
  })

  test('an error behind many rows fails the query, and the connection serves the next one', async () => {
    const client = await pool.connect()
    try {
      const failing = client.query('select 1 / (20000 - n) as n from generate_series(1, 20000) n')
      await expect(failing).rejects.toThrow('division by zero')
      expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    } finally {
      client.release()
    }
  })

  test('one that takes longer than its timeout fails, and its connection is replaced', async () => {
    const endless = { text: longResult(100_000_000), query_timeout: 200 } as QueryConfig
    const client = await pool.connect()
    const ended = new Promise(resolve => client.once('end', resolve))
    await expect(client.query(endless).finally(() => client.release())).rejects.toThrow('Query read timeout')
    await ended
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })

  test('a connection that is ended by the server in the middle of one fails its query', async () => {
    const client = await pool.connect()
    client.on('error', () => {})
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const broken = client.query(longResult(100_000_000)).catch(error => error)
    await pool.query('select pg_sleep(0.1), pg_terminate_backend($1)', [rows[0]?.pid])
    expect(await broken).toBeInstanceOf(Error)
    client.release(true)
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })

  test('the pool ends while a client is paused', async () => {
    const client = await pool.connect()
    const long = client.query(longResult(20_000))
    const short = await pool.query('select 1 as one')
    expect(short.rows).toHaveLength(1)
    const ended = pool.end()
    expect((await long).rows).toHaveLength(20_000)
    client.release()
    await ended
  })
})
