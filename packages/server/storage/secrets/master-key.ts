import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openSecretBox, type SecretBox, UnknownMasterKeyError } from '../../core/access/secret-box.ts'
import type { Random } from '../../core/random.ts'
import { syncFolder } from '../embedded/sync-folder.ts'
import { KEY_BYTES, linkUnlessExists, readKeyFile, writeKeyFile } from './key-file.ts'

/** The key that encrypts. During a rotation also the previous key, which still decrypts. */
export interface MasterKeys {
  readonly current: Buffer
  readonly previous: Buffer | undefined
}

/**
 * The master key of an embedded database: 32 bytes in base64 in `<dataDir>/master.key`, mode 0600. The first call creates
 * it and flushes it to disk before it returns.
 *
 * Throws if the file holds anything else. A new key in its place would make every stored secret unreadable for good.
 */
export function getOrCreateMasterKeys(dataDir: string, random: Random): MasterKeys {
  const paths = pathsOf(dataDir)
  // Read in this order: a rotation writes the previous key's file before it replaces the current key, so whoever reads
  // the new key afterwards finds the previous one too.
  const current = readKeyFile(paths.current)
  const previous = readKeyFile(paths.previous)
  if (current !== undefined) {
    return { current, previous: previous?.equals(current) === true ? undefined : previous }
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  writeKeyFile(paths.current, random.bytes(KEY_BYTES), temporary =>
    linkUnlessExists(temporary, paths.current),
  )
  return { current: readKeyFile(paths.current) as Buffer, previous }
}

/**
 * Creates a new master key and keeps the old one as `master.key.former`, or continues a rotation that was interrupted. At
 * every moment both keys that stored secrets may be encrypted under are on disk.
 */
export function beginMasterKeyRotation(
  dataDir: string,
  random: Random,
): MasterKeys & { readonly previous: Buffer } {
  const paths = pathsOf(dataDir)
  const keys = getOrCreateMasterKeys(dataDir, random)
  if (keys.previous !== undefined) return { current: keys.current, previous: keys.previous }
  // A link keeps the old key under both names. If it exists, a rotation was interrupted before the rename below.
  linkUnlessExists(paths.current, paths.previous)
  syncFolder(dataDir)
  writeKeyFile(paths.current, random.bytes(KEY_BYTES), temporary => renameSync(temporary, paths.current))
  return { current: readKeyFile(paths.current) as Buffer, previous: keys.current }
}

/** Removes the previous key. Only for when no secret is encrypted under it any more. */
export function endMasterKeyRotation(dataDir: string): void {
  rmSync(pathsOf(dataDir).previous, { force: true })
  syncFolder(dataDir)
}

/**
 * A secret box with the keys in the data folder. Another process may rotate them, so the box reads the files again
 * before it encrypts, and when a secret is encrypted under a key that it does not have.
 */
export function openFileSecretBox(dataDir: string, random: Random): SecretBox {
  const load = (): SecretBox => {
    const { current, previous } = getOrCreateMasterKeys(dataDir, random)
    return openSecretBox(current, random, previous === undefined ? [] : [previous])
  }
  let box = load()
  const reload = (): SecretBox => {
    box = load()
    return box
  }
  const openBytes = (sealed: Buffer, context: string): Buffer => {
    try {
      return box.openBytes(sealed, context)
    } catch (error) {
      if (!(error instanceof UnknownMasterKeyError)) throw error
      return reload().openBytes(sealed, context)
    }
  }
  return {
    get keyId() {
      return reload().keyId
    },
    seal: (plaintext, context) => reload().seal(plaintext, context),
    sealSteps: (plaintext, context) => reload().sealSteps(plaintext, context),
    fingerprint: plaintext => box.fingerprint(plaintext),
    sign: (bytes, purpose) => box.sign(bytes, purpose),
    open: (sealed, context) => openBytes(sealed, context).toString('utf8'),
    openBytes,
    *openSteps(sealed, context) {
      try {
        return yield* box.openSteps(sealed, context)
      } catch (error) {
        if (!(error instanceof UnknownMasterKeyError)) throw error
        return yield* reload().openSteps(sealed, context)
      }
    },
  }
}

function pathsOf(dataDir: string): { readonly current: string; readonly previous: string } {
  const current = join(dataDir, 'master.key')
  return { current, previous: `${current}.former` }
}
