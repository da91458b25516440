import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSecretBox } from '../core/access/secret-box.ts'
import { systemClock } from '../core/clock.ts'
import { openIds } from '../core/ids.ts'
import { systemRandom } from '../core/random.ts'
import { findSigner, listSigningKeys, updateSigningKeys } from '../storage/keys/signing-keys.ts'
import { toUrl } from '../testing/harness/app.ts'
import { type FreshDatabase, freshDatabase } from '../testing/harness/database.ts'
import { rotateSigningKeys } from './rotate-signing-keys.ts'

const MASTER_KEY = randomBytes(32)
const secretBox = openSecretBox(MASTER_KEY, systemRandom)
const newId = openIds(systemClock, systemRandom)

let database: FreshDatabase
let dataDir: string
beforeEach(async () => {
  database = await freshDatabase()
  dataDir = mkdtempSync(path.join(tmpdir(), 'rideau-signing-keys-'))
})
afterEach(async () => {
  await database.drop()
  rmSync(dataDir, { recursive: true, force: true })
})

const log = pino({ level: 'silent' })
const replace = (masterKey = MASTER_KEY): Promise<void> => {
  const databaseUrl = toUrl(database.connection)
  return rotateSigningKeys({ databaseUrl, dataDir, masterKey, formerMasterKeys: [], log })
}
const listKids = async (): Promise<string[]> =>
  (await listSigningKeys(database.db)).map(({ kid }) => kid).sort()

test('no key of before is left, and the new ones sign at once and in thirty days', async () => {
  await updateSigningKeys(database.db, { secretBox, newId }, 0)
  await updateSigningKeys(database.db, { secretBox, newId }, systemClock.now())
  const before = await listKids()
  await replace()
  const after = await listKids()
  expect(after).toHaveLength(2)
  expect(before.filter(kid => after.includes(kid))).toEqual([])
  expect(after).toContain((await findSigner(database.db, secretBox, systemClock.now()))?.kid)
})

test('another master key than that of the stored keys is refused, and nothing is changed', async () => {
  await updateSigningKeys(database.db, { secretBox, newId }, systemClock.now())
  const before = await listKids()
  await expect(replace(randomBytes(32))).rejects.toThrow(
    'RIDEAU_MASTER_KEY: must be that of the running program',
  )
  expect(await listKids()).toEqual(before)
})

test('a database without keys is refused, since it is hardly that of the running program', async () => {
  await expect(replace()).rejects.toThrow('DATABASE_URL: the database had no signing keys')
  expect(await listKids()).toEqual([])
})
