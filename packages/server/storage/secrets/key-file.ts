import { closeSync, constants, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncFolder } from '../embedded/sync-folder.ts'

export const KEY_BYTES = 32

/** The key in the file: 32 bytes, stored in base64. undefined if there is no file. Throws if the content is not a key. */
export function readKeyFile(path: string): Buffer | undefined {
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

/**
 * Writes the key to a temporary file beside `path`, mode 0600, and flushes it to disk. `place` then moves or links the
 * file to its final name, so that no reader ever sees part of a key.
 */
export function writeKeyFile(path: string, key: Buffer, place: (temporary: string) => void): void {
  const temporary = `${path}.${process.pid}.new`
  rmSync(temporary, { force: true })
  writeDurably(temporary, `${key.toString('base64')}\n`)
  try {
    place(temporary)
  } finally {
    rmSync(temporary, { force: true })
  }
  syncFolder(dirname(path))
}

/** Links `from` as `to` unless `to` exists. Unlike a rename it never replaces a key that another process wrote first. */
export function linkUnlessExists(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
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
