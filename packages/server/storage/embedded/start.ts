import { accessSync, constants, existsSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { canReach } from './account.ts'
import { claimCluster } from './claim-cluster.ts'
import { createCluster, writeAccessRules } from './cluster.ts'
import { identifyCluster, toClusterId } from './end-server.ts'
import { acquireFolderLock } from './folder-lock.ts'
import { isUsedByOthers, toSocketConnection } from './other-sessions.ts'
import { prepareProgramFiles } from './program-files.ts'
import { adoptServer, launchServer, type RunningServer, stopServer } from './server.ts'
import { lowerPriority } from './server-priority.ts'
import { type ClusterIdentity, isAlive, isServerOf } from './server-processes.ts'
import { INIT_ARGS, SETTINGS } from './settings.ts'
import type { SocketConnection } from './socket-connection.ts'
import { chooseSocketFolder } from './socket-folder.ts'

/** PostgreSQL writes it into each cluster. */
const VERSION_FILE = 'PG_VERSION'

export interface EmbeddedOptions {
  /** Created if it does not exist. The cluster is `<dataDir>/pg18`. */
  readonly dataDir: string
  readonly log: (line: string) => void
  /** Server settings that override the defaults. */
  readonly settings?: Readonly<Record<string, string>>
  readonly initArgs?: readonly string[]
}

export interface EmbeddedPostgres {
  readonly connection: SocketConnection
  /** The real path of the data folder. */
  readonly dataDir: string
  /** True: the server was running already. Its parent was killed, or another process uses it. */
  readonly adopted: boolean
  /**
   * Stops the server, unless another process has a session on it. Call it after the pool's end. `force` stops it in any
   * case and at once; the next start then recovers from the write-ahead log.
   */
  stop(options?: { readonly force?: boolean }): Promise<void>
}

/** True if the data folder has a cluster, or cannot be read: then the start of its server throws the reason. */
export function mayHaveCluster(dataDir: string): boolean {
  try {
    return statSync(join(identifyCluster(dataDir).dir, VERSION_FILE), { throwIfNoEntry: false }) !== undefined
  } catch {
    return true
  }
}

/** Starts the PostgreSQL server of a data folder, or adopts the running one. Safe to call from several processes at once. */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 })
  const dataDir = realpathSync(options.dataDir)
  const release = await acquireFolderLock(dataDir)
  try {
    return await start(dataDir, options)
  } finally {
    await release()
  }
}

async function start(dataDir: string, options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { log } = options
  assertAccess(dataDir)
  const cluster = identifyCluster(dataDir)
  const { dir } = cluster
  const id = toClusterId(dataDir)
  const account = await claimCluster(cluster, log)
  // Before its content is looked at: a folder that cannot be read looks like an empty one.
  if (!account.switched && existsSync(dir)) assertAccess(dir)
  const copyTo = account.switched ? join('/var/lib/rideau', `${slugOf(dataDir)}-${id}`) : dataDir
  const program = prepareProgramFiles(account, copyTo, log)
  const binDir = join(program.dir, 'bin')
  const reachable = !account.switched || canReach(dataDir, account)
  if (!existsSync(join(dir, VERSION_FILE))) {
    const initArgs = [...INIT_ARGS, ...(options.initArgs ?? [])]
    await createCluster({ binDir, dir, account, reachable, initArgs })
  }
  const rulesChanged = writeAccessRules(dir, account)
  const adopted = await adoptServer(cluster, !rulesChanged)
  const server =
    adopted ??
    (await launchServer({
      binDir,
      cluster,
      account,
      reachable,
      socketDir: chooseSocketFolder(account, id),
      logFile: join(dataDir, 'postgres.log'),
      settings: { ...SETTINGS, ...options.settings },
    }))
  const as = account.switched ? `, run as uid ${account.uid}` : ''
  log(
    `embedded PostgreSQL ${program.version}: ${adopted === undefined ? 'started' : 'found running'}; ` +
      `data in ${dir}, program in ${program.dir}, socket in ${server.socketDir}${as}`,
  )
  return toEmbeddedPostgres(server, cluster, dataDir, adopted !== undefined, log)
}

function toEmbeddedPostgres(
  server: RunningServer,
  cluster: ClusterIdentity,
  dataDir: string,
  adopted: boolean,
  log: (line: string) => void,
): EmbeddedPostgres {
  const connection = toSocketConnection(server)
  const stopLowering = lowerPriority(server.pid)
  const stop = async (force: boolean): Promise<void> => {
    // The lock serializes processes that stop at once, so that the last one sees no other session and ends the server.
    const release = await acquireFolderLock(dataDir)
    try {
      if (!isAlive(server.pid) || !isServerOf(server.pid, cluster)) return
      if (!force && (await isUsedByOthers(connection))) {
        log('embedded PostgreSQL: left running, because another process uses it')
        return
      }
      await stopServer(server.pid, force ? 'SIGQUIT' : 'SIGINT')
      rmSync(server.socketDir, { recursive: true, force: true })
    } finally {
      await release()
    }
  }
  let stopped: Promise<void> | undefined
  return {
    connection,
    dataDir,
    adopted,
    stop(how = {}) {
      stopLowering()
      stopped ??= stop(how.force ?? false)
      return stopped
    },
  }
}

function assertAccess(dir: string): void {
  try {
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw new Error(
      `${dir} belongs to another user: start as that user, or as root, or choose another RIDEAU_DATA_DIR`,
      { cause },
    )
  }
}

function slugOf(dir: string): string {
  const words = dir.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '')
  return words.slice(-40).replace(/^-/, '') || basename(dir)
}
