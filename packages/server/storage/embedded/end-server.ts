import { createHash } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { isUsedByOthers, toSocketConnection } from './other-sessions.ts'
import {
  type ClusterIdentity,
  isServerOf,
  listServerProcesses,
  readPidFile,
  signal,
} from './server-processes.ts'
import { waitFor } from './wait-for.ts'

/** The cluster's folder. It names the major version, so that an upgrade can create the next one beside it. */
const CLUSTER = 'pg18'

/** How the processes of a data folder's cluster are recognized. `dataDir` is a real path. */
export function identifyCluster(dataDir: string): ClusterIdentity {
  return { dir: join(dataDir, CLUSTER), name: `rideau-${toClusterId(dataDir)}` }
}

/** Distinguishes the clusters of one machine by their data folders. */
export function toClusterId(dataDir: string): string {
  return createHash('sha256').update(dataDir).digest('hex').slice(0, 12)
}

/** Immediate shutdown takes milliseconds, unless the disk hangs. */
const END_MS = 3_000
/** A server that does not answer has no sessions that work. */
const ASK_MS = 1_500

/**
 * Ends the running server of a data folder by PostgreSQL's immediate shutdown, for a process that ends at once; the next start
 * recovers from the write-ahead log. Leaves it running if another process has a session on it. Works at every moment of a
 * start, so it takes no lock. Takes a few seconds at most and never rejects.
 */
export async function endEmbeddedServer(givenDir: string): Promise<void> {
  try {
    if (!existsSync(givenDir)) return
    const cluster = identifyCluster(realpathSync(givenDir))
    if (!existsSync(cluster.dir)) return
    const file = readPidFile(cluster.dir)
    const running = file !== undefined && isServerOf(file.pid, cluster) ? file : undefined
    if (running?.status === 'ready') {
      const connection = toSocketConnection(running)
      const asking = isUsedByOthers(connection, { ignoreOwn: true })
      const late = new Promise<boolean>(resolve => setTimeout(() => resolve(false), ASK_MS).unref())
      if (await Promise.race([asking, late])) return
    }
    // A server that is just being started may have no pid file yet.
    const processes = running === undefined ? listServerProcesses(cluster) : [running.pid]
    for (const pid of processes) signal(pid, 'SIGQUIT')
    await waitFor(() => listServerProcesses(cluster).length === 0, END_MS, 20)
  } catch {
    // This process ends in any case, and the next start ends or uses what is left.
  }
}
