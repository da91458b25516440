import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { emptyDatabase, listTestServers } from '../testing/harness/database.ts'
import type { Connection } from './connection.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { openStorage } from './open-storage.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'rideau-storage-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

function toUrl(connection: Connection): string {
  if (typeof connection === 'string') return connection
  const { host, port, user, database } = connection
  return `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`
}

test('without a URL starts the embedded server in the data folder and stops it on close', async () => {
  const lines: string[] = []
  const log = (line: string): number => lines.push(line)
  const storage = await openStorage({ dataDir: join(home, 'data'), log })
  expect(await storage.db.selectFrom('organizations').selectAll().execute()).toEqual([])
  const [first, last] = [MIGRATIONS[0]?.name, MIGRATIONS.at(-1)?.name]
  expect(lines).toContain(`applied ${MIGRATIONS.length} migrations, from ${first} to ${last}`)
  const { host } = storage.connection as { host: string }
  expect(existsSync(host)).toBe(true)
  await storage.close()
  await storage.close()
  expect(existsSync(host)).toBe(false)
})

describe.each(listTestServers())('by URL on $label', server => {
  test('migrates the database and reads int8 as a number, or fails beyond the safe range', async () => {
    const database = await emptyDatabase(server)
    const databaseUrl = toUrl(database.connection)
    const storage = await openStorage({ databaseUrl, dataDir: join(home, 'data'), log: () => {} })
    const { rows } = await storage.pool.query('select count(*) as count, 9007199254740991 as big from keys')
    expect(rows).toEqual([{ count: 0, big: 9_007_199_254_740_991 }])
    await expect(storage.pool.query('select 9007199254740993 as big')).rejects.toThrow(RangeError)
    await storage.close()
    await database.drop()
    expect(existsSync(join(home, 'data'))).toBe(false)
  })
})

test('rejects if the database is out of reach, with an error without the password', async () => {
  const databaseUrl = 'postgres://rideau:secret@127.0.0.1:1/rideau'
  const failure = await openStorage({ databaseUrl, dataDir: home, log: () => {} }).catch(error => error)
  expect(failure).toBeInstanceOf(Error)
  expect(String(failure)).toContain('ECONNREFUSED')
  expect(String(failure)).not.toContain('secret')
})
