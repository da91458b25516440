import {
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Random } from '../core/chance.ts'
import { openSecretBox, type SecretBox, UnknownMasterKeyError } from '../core/secret-box.ts'

const KEY_BYTES = 32

/** The key that seals, and while it is changed (beginKeyChange) the one before it, which still opens. */
export interface MasterKeys {
  readonly current: Buffer
  readonly former: Buffer | undefined
}

/**
 * The master key of an embedded database: 32 bytes in base64 in `<dataDir>/master.key`, mode 0600, made on first
 * start and on the disk before anything is sealed with it. A file out of form throws: a new key in its place would
 * make every stored secret unreadable for good.
 */
export function findOrCreateMasterKeys(dataDir: string, random: Random): MasterKeys {
  const { path, former } = pathsOf(dataDir)
  // The current one first: the former is put beside it before it changes, so that who sees the new one finds both.
  const found = readKey(path)
  const before = readKey(former)
  if (found !== undefined)
    return { current: found, former: before?.equals(found) === true ? undefined : before }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  writeKeyBeside(path, random.bytes(KEY_BYTES), fresh => linkUnlessThere(fresh, path))
  return { current: readKey(path) as Buffer, former: before }
}

/**
 * Makes a new master key and keeps the old one as `master.key.former`, or takes up a change that was interrupted. At
 * every moment both keys that something may be sealed with are on the disk.
 */
export function beginKeyChange(dataDir: string, random: Random): MasterKeys & { readonly former: Buffer } {
  const { path, former } = pathsOf(dataDir)
  const keys = findOrCreateMasterKeys(dataDir, random)
  if (keys.former !== undefined) return { current: keys.current, former: keys.former }
  // A link, so that the old key is never missing; where it is there already a change was cut off before its rename.
  linkUnlessThere(path, former)
  syncFolder(dataDir)
  writeKeyBeside(path, random.bytes(KEY_BYTES), fresh => renameSync(fresh, path))
  return { current: readKey(path) as Buffer, former: keys.current }
}

/** Nothing is sealed with the former key any more. */
export function endKeyChange(dataDir: string): void {
  rmSync(pathsOf(dataDir).former, { force: true })
  syncFolder(dataDir)
}

/**
 * A box over the key files. Another process may change the master key while this one runs: the files are read again
 * before anything is sealed, and where something was sealed with a key that is not known here.
 */
export function openFileSecretBox(dataDir: string, random: Random): SecretBox {
  const load = (): SecretBox => {
    const { current, former } = findOrCreateMasterKeys(dataDir, random)
    return openSecretBox(current, random, former === undefined ? [] : [former])
  }
  let box = load()
  const renew = (): SecretBox => {
    box = load()
    return box
  }
  return {
    get keyId() {
      return renew().keyId
    },
    seal: (plaintext, context) => renew().seal(plaintext, context),
    fingerprint: plaintext => box.fingerprint(plaintext),
    sign: (bytes, purpose) => box.sign(bytes, purpose),
    open(sealed, context) {
      try {
        return box.open(sealed, context)
      } catch (error) {
        if (!(error instanceof UnknownMasterKeyError)) throw error
        return renew().open(sealed, context)
      }
    },
  }
}

function pathsOf(dataDir: string): { readonly path: string; readonly former: string } {
  const path = join(dataDir, 'master.key')
  return { path, former: `${path}.former` }
}

/** Whole and on the disk under a name of its own, before `put` gives it its place. */
function writeKeyBeside(path: string, key: Buffer, put: (fresh: string) => void): void {
  const fresh = `${path}.${process.pid}.new`
  rmSync(fresh, { force: true })
  writeDurably(fresh, `${key.toString('base64')}\n`)
  try {
    put(fresh)
  } finally {
    rmSync(fresh, { force: true })
  }
  syncFolder(dirname(path))
}

/** Unlike a rename, a link never replaces the key of a process that was faster. */
function linkUnlessThere(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function readKey(path: string): Buffer | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length !== KEY_BYTES || key.toString('base64') !== text.trim()) {
    throw new Error(
      `${path} holds no master key (32 bytes in base64): restore it, or set RIDEAU_MASTER_KEY; ` +
        'without the right one the stored provider credentials cannot be read',
    )
  }
  return key
}

function writeDurably(path: string, content: string): void {
  const { O_WRONLY, O_CREAT, O_EXCL } = constants
  const fd = openSync(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
  try {
    writeSync(fd, content)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function syncFolder(dir: string): void {
  const fd = openSync(dir, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
