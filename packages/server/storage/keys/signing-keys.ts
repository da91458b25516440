import { createHash, createPrivateKey, generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import { sql } from 'kysely'
import type { TokenSigner } from '../../core/access/client-token.ts'
import type { SecretBox } from '../../core/access/secret-box.ts'
import { findCurrent, planRotation, type SigningKey } from '../../core/access/signing-schedule.ts'
import { Fault } from '../../core/fault.ts'
import type { Db } from '../pool.ts'

/** A signing key as it is stored. */
export interface SealedSigningKey extends SigningKey {
  readonly id: string
  /** null: the key no longer signs, and its private part is removed. */
  readonly privateCipher: Buffer | null
}

export async function listSigningKeys(db: Db): Promise<SealedSigningKey[]> {
  const rows = await db.selectFrom('signing_keys').selectAll().execute()
  return rows.map(row => ({
    id: row.id,
    kid: row.kid,
    publicJwk: row.public_jwk,
    privateCipher: row.private_cipher,
    activatesAt: row.activates_at.getTime(),
  }))
}

/** The key that signs now; undefined if there is none yet. Throws SecretBoxError if it cannot be decrypted. */
export async function findSigner(
  db: Db,
  secretBox: SecretBox,
  now: number,
): Promise<TokenSigner | undefined> {
  const current = findCurrent(await listSigningKeys(db), now)
  if (current === undefined || current.privateCipher === null) return undefined
  const pem = secretBox.open(current.privateCipher, `signing_keys:${current.id}`)
  return { kid: current.kid, privateKey: createPrivateKey(pem) }
}

/** The key that signs now, made if there is none yet. Throws `signing_key_unavailable`. */
export async function getSigner(
  db: Db,
  deps: { readonly secretBox: SecretBox; readonly newId: () => string },
  now: number,
): Promise<TokenSigner> {
  try {
    const signer = await findSigner(db, deps.secretBox, now)
    if (signer !== undefined) return signer
    await updateSigningKeys(db, deps, now)
    const made = await findSigner(db, deps.secretBox, now)
    if (made !== undefined) return made
    throw new Error('the rotation created no current signing key')
  } catch (cause) {
    const message = 'Client tokens cannot be signed right now. Try again shortly.'
    throw new Fault('signing_key_unavailable', message, { cause, retryAfterSeconds: 5 })
  }
}

/**
 * Creates keys that are due, erases the private part of keys that no longer sign, and removes keys that ended long ago
 * (core/access/signing-schedule.ts). Returns how many keys it created. Repeated and concurrent calls create no more.
 */
export async function updateSigningKeys(
  db: Db,
  deps: { readonly secretBox: SecretBox; readonly newId: () => string },
  now: number,
): Promise<{ readonly made: number }> {
  return await db.transaction().execute(async tx => {
    await lockSigningKeys(tx)
    const { activations, ended, forgotten } = planRotation(await listSigningKeys(tx), now)
    for (const activatesAt of activations) await insertKey(tx, deps, activatesAt, now)
    const spent = ended.filter(key => key.privateCipher !== null).map(({ id }) => id)
    if (spent.length > 0) {
      await tx.updateTable('signing_keys').set({ private_cipher: null }).where('id', 'in', spent).execute()
    }
    const removed = forgotten.map(({ id }) => id)
    if (removed.length > 0) await tx.deleteFrom('signing_keys').where('id', 'in', removed).execute()
    return { made: activations.length }
  })
}

/**
 * Replaces all keys at once, whenever they were made. The database notifies every gateway, which accepts no token of the removed ones
 * from then on. Returns how many were removed; if there was none, none is made. Throws SecretBoxError, and changes nothing, if the
 * current key cannot be decrypted: with another master key than that of the gateways, they could not decrypt the new ones either.
 */
export async function replaceSigningKeys(
  db: Db,
  deps: { readonly secretBox: SecretBox; readonly newId: () => string },
  now: number,
): Promise<{ readonly removed: number }> {
  return await db.transaction().execute(async tx => {
    await lockSigningKeys(tx)
    await findSigner(tx, deps.secretBox, now)
    const removed = await tx.deleteFrom('signing_keys').returning('id').execute()
    if (removed.length === 0) return { removed: 0 }
    for (const activatesAt of planRotation([], now).activations) await insertKey(tx, deps, activatesAt, now)
    return { removed: removed.length }
  })
}

/** Processes that start together create one key, not one each. */
async function lockSigningKeys(tx: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('rideau.signing_keys', 0))`.execute(tx)
}

async function insertKey(
  tx: Db,
  { secretBox, newId }: { readonly secretBox: SecretBox; readonly newId: () => string },
  activatesAt: number,
  now: number,
): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = publicKey.export({ format: 'jwk' })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const id = newId()
  await tx
    .insertInto('signing_keys')
    .values({
      id,
      kid: toThumbprint(jwk),
      public_jwk: JSON.stringify(jwk),
      private_cipher: secretBox.seal(pem, `signing_keys:${id}`),
      activates_at: new Date(activatesAt),
      created_at: new Date(now),
    })
    .execute()
}

/** RFC 7638: a hash of the required members, in lexicographic order. */
function toThumbprint({ crv, kty, x, y }: JsonWebKey): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
}
