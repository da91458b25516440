import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Account, NOBODY } from './account.ts'

/**
 * Gives a folder and everything in it to the account. It goes by open files, never by a path that its previous owner could
 * have changed meanwhile, and follows no link. Throws, and leaves the folder to root alone, if it holds anything but
 * folders and files of `from`, root, nobody or the account: a link, or a file that another folder has too. A second call continues
 * where an earlier one ended. Needs root and /proc.
 */
export function changeOwner(dir: string, from: number, to: Account): void {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants
  if (!lstatSync(dir).isDirectory()) throw ownershipError(dir, 'is not a folder')
  const fd = openSync(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  try {
    const { uid } = fstatSync(fd)
    if (uid !== from) throw ownershipError(dir, `belongs to uid ${uid}`)
    // Closed to the previous owner first, and the account's last, so that a cluster which is only partly given is not used.
    fchownSync(fd, 0, 0)
    fchmodSync(fd, 0o700)
    giveContent(fd, dir, new Set([from, 0, NOBODY, to.uid]), to)
    fchownSync(fd, to.uid, to.gid)
  } finally {
    closeSync(fd)
  }
}

function giveContent(folder: number, path: string, from: ReadonlySet<number>, to: Account): void {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const at = `/proc/self/fd/${folder}`
  for (const name of readdirSync(at)) {
    const entry = join(at, name)
    const shown = join(path, name)
    // Checked before it is opened, because opening a device can have effects; and again after that.
    const found = lstatSync(entry)
    if (!found.isDirectory() && !found.isFile()) throw ownershipError(shown, 'is neither a folder nor a file')
    const fd = openSync(entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      const opened = fstatSync(fd)
      if (opened.isDirectory()) giveContent(fd, shown, from, to)
      else if (!opened.isFile()) throw ownershipError(shown, 'is neither a folder nor a file')
      else if (opened.nlink !== 1) throw ownershipError(shown, 'is linked from elsewhere too')
      if (!from.has(opened.uid)) throw ownershipError(shown, `belongs to uid ${opened.uid}`)
      fchownSync(fd, to.uid, to.gid)
    } finally {
      closeSync(fd)
    }
  }
}

function ownershipError(path: string, reason: string): Error {
  return new Error(
    `the database cannot be given to the user that it will run as: ${path} ${reason}. Remove it, or give the folder to ` +
      'a user of its own with chown -Rh',
  )
}
