import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { rotateMasterKey } from './rotate-master-key.ts'
import { rotateSigningKeys } from './rotate-signing-keys.ts'

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'rideau-test-no-database-'))
})
afterEach(() => rmSync(dataDir, { recursive: true }))

test.each([
  ['rotateSigningKeys', rotateSigningKeys],
  ['rotateMasterKey', rotateMasterKey],
])('%s refuses a data folder without a database, and makes nothing in it', async (_, command) => {
  const options = { databaseUrl: undefined, masterKey: undefined, formerMasterKeys: [], log: { info() {} } }
  for (const folder of [dataDir, path.join(dataDir, 'missing')]) {
    const refused = `RIDEAU_DATA_DIR: ${folder} holds no database`
    await expect(command({ ...options, dataDir: folder })).rejects.toThrow(refused)
    expect(readdirSync(dataDir)).toEqual([])
  }
})
