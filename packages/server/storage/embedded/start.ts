import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { Client } from 'pg'
import { type SocketConnection, toClientConfig } from '../connection.ts'
import { type Account, canReach, chooseAccount } from './account.ts'
import { createCluster, writeAccessRules } from './cluster.ts'
import { holdFolderLock } from './lock.ts'
import { prepareBinaries } from './native.ts'
import { type ClusterMark, isAlive, isServerOf } from './process.ts'
import { adoptServer, launchServer, type RunningServer, stopServer } from './server.ts'
import { waitFor } from './wait.ts'

/** One cluster a major version: the next major can be made beside it and filled from it. */
const CLUSTER = 'pg18'

/** No libc or ICU collation that could change under the indexes with an update of the system. */
const INIT_ARGS = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C']

/** For one application on a small machine; durability is PostgreSQL's own default. */
const SETTINGS = {
  shared_buffers: '128MB',
  max_connections: '60',
  io_method: 'sync',
  jit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  max_parallel_workers_per_gather: '0',
  max_wal_size: '512MB',
  min_wal_size: '64MB',
  // Containers have a /dev/shm of 64 MB, and segments there outlive a kill -9.
  dynamic_shared_memory_type: 'mmap',
  autovacuum_max_workers: '1',
  huge_pages: 'off',
}

/** A socket's whole path may have 103 bytes on macOS and 107 on Linux. */
const SOCKET_DIR_BYTES = 85

export interface EmbeddedOptions {
  /** The server's whole home is `<dataDir>/pg18`; made where it is missing. */
  readonly dataDir: string
  readonly log: (line: string) => void
  /** Server settings over our own. */
  readonly settings?: Readonly<Record<string, string>>
  readonly initArgs?: readonly string[]
}

export interface EmbeddedPostgres {
  readonly connection: SocketConnection
  /** The real path of the data folder. */
  readonly dataDir: string
  /** It ran already: its parent was killed, or another process of ours uses it. */
  readonly adopted: boolean
  /**
   * Ends the server; call it after the pool's end. Leaves it running while another process has a session on it,
   * unless forced; a forced stop leaves the next start to recover from the write-ahead log.
   */
  stop(options?: { readonly force?: boolean }): Promise<void>
}

/** Starts, or adopts, the PostgreSQL of a data folder. Safe to call from several processes at once. */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 })
  const dataDir = realpathSync(options.dataDir)
  const release = await holdFolderLock(dataDir)
  try {
    return await start(dataDir, options)
  } finally {
    await release()
  }
}

async function start(dataDir: string, options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { log } = options
  checkOwner(dataDir)
  const dir = join(dataDir, CLUSTER)
  const account = chooseAccount(dir)
  // Before anything asks what is in it: a closed folder looks like an empty one.
  if (!account.switched && existsSync(dir)) checkOwner(dir)
  const id = createHash('sha256').update(dataDir).digest('hex').slice(0, 12)
  const cluster: ClusterMark = { dir, name: `rideau-${id}` }
  const copyTo = account.switched ? join('/var/lib/rideau', `${slugOf(dataDir)}-${id}`) : dataDir
  const binaries = prepareBinaries(account, copyTo, log)
  const binDir = join(binaries.dir, 'bin')
  const reachable = !account.switched || canReach(dataDir, account)
  if (!existsSync(join(dir, 'PG_VERSION'))) {
    const initArgs = [...INIT_ARGS, ...(options.initArgs ?? [])]
    await createCluster({ binDir, dir, account, reachable, initArgs })
  }
  const rulesChanged = writeAccessRules(dir, account)
  const left = await adoptServer(cluster, !rulesChanged)
  const server =
    left ??
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
    `embedded PostgreSQL ${binaries.version}: ${left === undefined ? 'started' : 'found running'}; ` +
      `data in ${dir}, program in ${binaries.dir}, socket in ${server.socketDir}${as}`,
  )
  return open(server, cluster, dataDir, left !== undefined, log)
}

function open(
  server: RunningServer,
  cluster: ClusterMark,
  dataDir: string,
  adopted: boolean,
  log: (line: string) => void,
): EmbeddedPostgres {
  const connection = {
    host: server.socketDir,
    port: server.port,
    user: 'postgres',
    database: 'postgres',
  }
  const stop = async (force: boolean): Promise<void> => {
    // Under the lock, so that of two that leave at once the second sees itself alone.
    const release = await holdFolderLock(dataDir)
    try {
      if (!isAlive(server.pid) || !isServerOf(server.pid, cluster)) return
      if (!force && (await isUsedByOthers(connection))) {
        log('embedded PostgreSQL: left running, another process uses it')
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
      stopped ??= stop(how.force ?? false)
      return stopped
    },
  }
}

/** Sessions of ours that are just ending may show for a moment; others' stay. */
async function isUsedByOthers(connection: SocketConnection): Promise<boolean> {
  const client = new Client({
    ...toClientConfig(connection),
    query_timeout: 5000,
    connectionTimeoutMillis: 5000,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const alone = await waitFor(
      async () => {
        const { rows } = await client.query(
          `select 1 from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() limit 1`,
        )
        return rows.length === 0
      },
      1000,
      20,
    )
    return alone === undefined
  } catch {
    // It answers nobody: nobody uses it.
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

function checkOwner(dir: string): void {
  try {
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw new Error(
      `${dir} is another user's: start as that user, or as root, or choose another RIDEAU_DATA_DIR`,
      { cause },
    )
  }
}

/** Root's is under /run, where only root makes folders; an ordinary user's lasts longer than a login session. */
function chooseSocketFolder(account: Account, id: string): string {
  const name = `rideau-${account.uid}-${id}`
  if (account.switched && isWritable('/run')) return join('/run', name)
  const own = join(tmpdir(), name)
  return Buffer.byteLength(own) <= SOCKET_DIR_BYTES ? own : join('/tmp', name)
}

function isWritable(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function slugOf(dir: string): string {
  const words = dir.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '')
  return words.slice(-40).replace(/^-/, '') || basename(dir)
}
