import { realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Whom the server runs as. PostgreSQL refuses root, so root hands it to an account without rights. */
export interface Account {
  readonly uid: number
  readonly gid: number
  /** We are root and become this account for the server's processes. */
  readonly switched: boolean
}

/** `nobody` on Debian, Alpine and Red Hat alike: initdb needs an account that /etc/passwd knows. */
const NOBODY = 65534

/**
 * The account for the cluster in this folder: our own, or as root the owner of the folder, so that a database made
 * by an ordinary user stays that user's, else nobody.
 */
export function chooseAccount(clusterDir: string): Account {
  const uid = process.geteuid?.()
  const gid = process.getegid?.()
  if (uid === undefined || gid === undefined) {
    throw new Error(`no embedded PostgreSQL on ${process.platform}: set DATABASE_URL`)
  }
  if (uid !== 0) return { uid, gid, switched: false }
  if (process.platform !== 'linux') {
    throw new Error(
      'the embedded PostgreSQL cannot run as root here: use an ordinary user or set DATABASE_URL',
    )
  }
  const owner = statSync(clusterDir, { throwIfNoEntry: false })
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid, switched: true }
  return { uid: NOBODY, gid: NOBODY, switched: true }
}

/** The part of spawn's options that makes a child run as the account. */
export function spawnAs(account: Account): { uid?: number; gid?: number } {
  return account.switched ? { uid: account.uid, gid: account.gid } : {}
}

/** Whether the account may pass every folder down to this path and enter or execute the path itself. */
export function canReach(path: string, account: Account): boolean {
  for (let at = realpathSync(path); ; at = dirname(at)) {
    const { mode, uid, gid } = statSync(at)
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001
    if ((mode & bit) === 0) return false
    if (at === dirname(at)) return true
  }
}
