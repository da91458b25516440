import { statSync } from 'node:fs'
import { type Account, chooseAccount } from './account.ts'
import { changeOwner } from './change-owner.ts'
import { toSwitchError } from './cluster.ts'
import { isUsedByOthers, toSocketConnection } from './other-sessions.ts'
import { adoptServer } from './server.ts'
import {
  type ClusterIdentity,
  isAlive,
  isServerOf,
  listServerProcesses,
  readPidFile,
} from './server-processes.ts'

/**
 * Returns the account that the cluster's server runs as, and gives it the cluster if that belonged to `nobody` (as root
 * ran it in earlier versions) or to root (a restored copy). A server that still runs as `nobody` is ended first, unless
 * another process has a session on it: then it stays, and a later start gives the cluster away. The caller holds the
 * folder's lock.
 */
export async function claimCluster(cluster: ClusterIdentity, log: (line: string) => void): Promise<Account> {
  const account = chooseAccount(cluster.dir)
  const owner = statSync(cluster.dir, { throwIfNoEntry: false })
  if (!account.switched || owner === undefined || owner.uid === account.uid) return account
  if (await isInUse(cluster)) {
    log(
      `embedded PostgreSQL: another process uses the server of ${cluster.dir}, so it still runs as uid ${owner.uid}, ` +
        'which other programs may run as too. Stop all of them and start again to change that',
    )
    return { uid: owner.uid, gid: owner.gid, switched: true }
  }
  await adoptServer(cluster, false)
  if (listServerProcesses(cluster).length > 0) {
    throw new Error(
      `a server of ${cluster.dir} does not end, so its files cannot be given to uid ${account.uid}`,
    )
  }
  try {
    changeOwner(cluster.dir, owner.uid, account)
  } catch (error) {
    throw toSwitchError(error, account)
  }
  log(
    `embedded PostgreSQL: ${cluster.dir} belonged to uid ${owner.uid} and now belongs to uid ${account.uid}`,
  )
  return account
}

async function isInUse(cluster: ClusterIdentity): Promise<boolean> {
  const pidFile = readPidFile(cluster.dir)
  if (pidFile === undefined || !isAlive(pidFile.pid) || !isServerOf(pidFile.pid, cluster)) return false
  return await isUsedByOthers(toSocketConnection(pidFile))
}
