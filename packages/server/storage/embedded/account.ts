import { realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** The user that the server runs as. PostgreSQL refuses to run as root, so root starts it as another user. */
export interface Account {
  readonly uid: number
  readonly gid: number
  /** True: this process is root and switches to the account for the server's processes. */
  readonly switched: boolean
}

/** `nobody` on Debian, Alpine and Red Hat. initdb needs an account that is in /etc/passwd. */
const NOBODY = 65534

/**
 * The account for the cluster in this folder: the current user. For root it is the folder's owner, so that a database
 * which an ordinary user created stays that user's, or else `nobody`. Throws on platforms without user ids.
 */
export function chooseAccount(clusterDir: string): Account {
  const uid = process.geteuid?.()
  const gid = process.getegid?.()
  if (uid === undefined || gid === undefined) {
    throw new Error(`the embedded PostgreSQL does not run on ${process.platform}: set DATABASE_URL`)
  }
  if (uid !== 0) return { uid, gid, switched: false }
  if (process.platform !== 'linux') {
    throw new Error(
      'the embedded PostgreSQL does not run as root on this platform: use an ordinary user, or set DATABASE_URL',
    )
  }
  const owner = statSync(clusterDir, { throwIfNoEntry: false })
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid, switched: true }
  return { uid: NOBODY, gid: NOBODY, switched: true }
}

/** The options of spawn() that run a child as the account. */
export function spawnAs(account: Account): { uid?: number; gid?: number } {
  return account.switched ? { uid: account.uid, gid: account.gid } : {}
}

/** True if the account can enter every folder above the path, and enter or execute the path itself. */
export function canReach(path: string, account: Account): boolean {
  for (let at = realpathSync(path); ; at = dirname(at)) {
    const { mode, uid, gid } = statSync(at)
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001
    if ((mode & bit) === 0) return false
    if (at === dirname(at)) return true
  }
}
