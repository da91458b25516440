import {
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../core/chance.ts'

const KEY_BYTES = 32

/**
 * The master key of an embedded database: 32 bytes in base64 in `<dataDir>/master.key`, mode 0600, made on first
 * start and on the disk before anything is sealed with it. A file out of form throws: a new key in its place would
 * make every stored secret unreadable for good.
 */
export function findOrCreateMasterKey(dataDir: string, random: Random): Buffer {
  const path = join(dataDir, 'master.key')
  const found = readKey(path)
  if (found !== undefined) return found
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const key = random.bytes(KEY_BYTES)
  const fresh = `${path}.${process.pid}.new`
  rmSync(fresh, { force: true })
  writeDurably(fresh, `${key.toString('base64')}\n`)
  try {
    // Unlike a rename, a link never replaces the key of a process that was faster.
    linkSync(fresh, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(fresh, { force: true })
  }
  syncFolder(dataDir)
  return readKey(path) as Buffer
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
