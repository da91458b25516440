import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Account } from './account.ts'
import { toSwitchError } from './cluster.ts'

/** A socket's path may have 103 bytes on macOS and 107 on Linux; the socket's name takes the rest. */
const MAX_PATH_BYTES = 85

/**
 * The folder for the server's socket. For root it is below /run, where only root creates folders. For an ordinary user it
 * is in the temporary folder, which outlives a login session.
 */
export function chooseSocketFolder(account: Account, id: string): string {
  const name = `rideau-${account.uid}-${id}`
  if (account.switched && isWritable('/run')) return join('/run', name)
  const own = join(tmpdir(), name)
  return Buffer.byteLength(own) <= MAX_PATH_BYTES ? own : join('/tmp', name)
}

/**
 * Creates the folder, or empties it: the new server would obey the lock file of a dead one. Mode 0700, owned by the
 * account. Throws if the folder belongs to another user.
 */
export function prepareSocketFolder(dir: string, account: Account): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const found = lstatSync(dir)
  if (!found.isDirectory() || (found.uid !== account.uid && found.uid !== process.geteuid?.())) {
    throw new Error(`${dir}, the database's socket folder, belongs to another user: remove it or set TMPDIR`)
  }
  try {
    if (account.switched) chownSync(dir, account.uid, account.gid)
  } catch (error) {
    throw toSwitchError(error, account)
  }
  chmodSync(dir, 0o700)
  for (const name of readdirSync(dir)) rmSync(join(dir, name), { recursive: true, force: true })
}

function isWritable(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK)
    return true
  } catch {
    return false
  }
}
