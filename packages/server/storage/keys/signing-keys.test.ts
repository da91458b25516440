import { createPublicKey, sign, verify } from 'node:crypto'
import { calculateJwkThumbprint, type JWK } from 'jose'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openSecretBox } from '../../core/access/secret-box.ts'
import { systemClock } from '../../core/clock.ts'
import { openIds } from '../../core/ids.ts'
import { systemRandom } from '../../core/random.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { findSigner, listSigningKeys, updateSigningKeys } from './signing-keys.ts'

const DAY = 24 * 3_600_000
const NOW = Date.parse('2031-05-14T10:30:00Z')
const newId = openIds(systemClock, systemRandom)
const secretBox = openSecretBox(Buffer.alloc(32, 1), systemRandom)
const deps = { secretBox, newId }

describe.each(listTestServers())('signing keys on $label', server => {
  let database: FreshDatabase
  beforeEach(async () => {
    database = await freshDatabase(server)
  })
  afterEach(() => database.drop())

  test('eight processes that start at once create one current and one next key', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => updateSigningKeys(database.db, deps, NOW)))
    expect(made.map(each => each.made).sort()).toEqual([0, 0, 0, 0, 0, 0, 0, 2])
    const keys = await listSigningKeys(database.db)
    expect(keys.map(({ activatesAt }) => activatesAt).sort()).toEqual([NOW, NOW + 30 * DAY])
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(2)
  })

  test('a signature verifies with the public key of the same kid, which is its RFC 7638 thumbprint', async () => {
    await updateSigningKeys(database.db, deps, NOW)
    const signer = await findSigner(database.db, secretBox, NOW)
    const stored = (await listSigningKeys(database.db)).find(({ kid }) => kid === signer?.kid)
    if (signer === undefined || stored === undefined) throw new Error('no signer')
    const signature = sign('sha256', Buffer.from('text'), signer.privateKey)
    const publicKey = createPublicKey({ key: stored.publicJwk, format: 'jwk' })
    expect(verify('sha256', Buffer.from('text'), publicKey, signature)).toBe(true)
    expect(signer.kid).toBe(await calculateJwkThumbprint(stored.publicJwk as JWK))
    expect(stored.publicJwk).not.toHaveProperty('d')
  })

  test('a rotation erases the private part of the previous key and removes the key a period later', async () => {
    await updateSigningKeys(database.db, deps, NOW)
    const first = await findSigner(database.db, secretBox, NOW)
    await updateSigningKeys(database.db, deps, NOW + 30 * DAY)
    const second = await findSigner(database.db, secretBox, NOW + 30 * DAY)
    expect(second?.kid).not.toBe(first?.kid)
    const former = (await listSigningKeys(database.db)).find(({ kid }) => kid === first?.kid)
    expect(former?.privateCipher).toBeNull()
    await updateSigningKeys(database.db, deps, NOW + 60 * DAY)
    const left = await listSigningKeys(database.db)
    expect(left.some(({ kid }) => kid === first?.kid)).toBe(false)
  })

  test('stores private keys encrypted and bound to their row', async () => {
    await updateSigningKeys(database.db, deps, NOW)
    const { rows } = await database.pool.query('select id, private_cipher::text as cipher from signing_keys')
    for (const { cipher } of rows) expect(cipher).not.toContain(Buffer.from('PRIVATE KEY').toString('hex'))
    const other = openSecretBox(Buffer.alloc(32, 2), systemRandom)
    await expect(findSigner(database.db, other, NOW)).rejects.toThrow('another master key')
    await database.pool.query(
      'update signing_keys a set private_cipher = b.private_cipher from signing_keys b where a.id <> b.id',
    )
    await expect(findSigner(database.db, secretBox, NOW)).rejects.toThrow('belongs to another row')
  })
})
