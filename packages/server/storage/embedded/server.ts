import { spawn } from 'node:child_process'
import { closeSync, constants, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Account, spawnAs } from './account.ts'
import { locateCluster, SERVER_ENV, toSwitchError } from './cluster.ts'
import {
  type ClusterIdentity,
  isAlive,
  isServerOf,
  listServerProcesses,
  readPidFile,
  signal,
} from './server-processes.ts'
import { prepareSocketFolder } from './socket-folder.ts'
import { waitFor } from './wait-for.ts'

/** Crash recovery replays up to max_wal_size of log, which takes a slow disk a while. */
const START_TIMEOUT_MS = 120_000
const STOP_TIMEOUT_MS = 30_000
const MAX_LOG_BYTES = 16 * 1024 * 1024

/** Part of the socket's file name only: the server listens on no TCP port. */
const SOCKET_PORT = 5432

export interface RunningServer {
  readonly pid: number
  readonly port: number
  readonly socketDir: string
}

/**
 * The cluster's running server, which a killed parent left or another process started, once it is ready. Otherwise ends
 * all of the cluster's processes, removes its pid file and returns undefined: a new server can start then. If `usable` is
 * false, a running server is ended too.
 */
export async function adoptServer(
  cluster: ClusterIdentity,
  usable: boolean,
): Promise<RunningServer | undefined> {
  const pidFile = readPidFile(cluster.dir)
  if (pidFile !== undefined && isAlive(pidFile.pid) && isServerOf(pidFile.pid, cluster)) {
    if (usable) {
      const settled = await waitFor(() => {
        const now = readPidFile(cluster.dir)
        return !isAlive(pidFile.pid) || now?.status === 'ready'
      }, START_TIMEOUT_MS)
      const now = readPidFile(cluster.dir)
      if (settled === true && now?.status === 'ready' && isAlive(now.pid)) return now
    }
    await stopServer(pidFile.pid, 'SIGINT')
  }
  for (const pid of listServerProcesses(cluster)) signal(pid, 'SIGQUIT')
  await waitFor(() => listServerProcesses(cluster).length === 0, STOP_TIMEOUT_MS)
  // A new server does not start over a pid file that is empty or names a process that exists, whatever that process is.
  rmSync(join(cluster.dir, 'postmaster.pid'), { force: true })
  return undefined
}

export interface LaunchOptions {
  readonly binDir: string
  readonly cluster: ClusterIdentity
  readonly account: Account
  /** False: the account cannot reach the cluster's path (locateCluster). */
  readonly reachable: boolean
  readonly socketDir: string
  readonly logFile: string
  readonly settings: Readonly<Record<string, string>>
}

/**
 * Starts the server and resolves when it accepts connections. Rejects with the end of its log if it does not. The server
 * is detached: Ctrl-C in a terminal does not reach it, so it can be stopped after running requests have ended.
 */
export async function launchServer(options: LaunchOptions): Promise<RunningServer> {
  const { cluster, account, socketDir, logFile } = options
  prepareSocketFolder(socketDir, account)
  const location = locateCluster(cluster.dir, options.reachable)
  const settings = {
    ...options.settings,
    cluster_name: cluster.name,
    listen_addresses: '',
    unix_socket_directories: socketDir,
    unix_socket_permissions: '0700',
    port: String(SOCKET_PORT),
  }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  // A file, not a pipe: the server outlives this process if that is killed.
  const log = openLog(logFile)
  let failure: Error | undefined
  const child = spawn(join(options.binDir, 'postgres'), ['-D', location.argument, ...args], {
    ...spawnAs(account),
    cwd: location.cwd,
    env: SERVER_ENV,
    detached: true,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  child.unref()
  child.once('error', error => {
    failure = toSwitchError(error, account)
  })
  child.once('exit', (code, name) => {
    failure = new Error(`it ended with ${code ?? name}`)
  })
  const isReady = (): boolean => {
    const file = readPidFile(cluster.dir)
    return file?.pid === child.pid && file?.status === 'ready'
  }
  const settled = await waitFor(() => failure !== undefined || isReady(), START_TIMEOUT_MS, 2)
  if (failure === undefined && settled === true && child.pid !== undefined) {
    return { pid: child.pid, port: SOCKET_PORT, socketDir }
  }
  child.kill('SIGQUIT')
  rmSync(socketDir, { recursive: true, force: true })
  const reason = failure?.message ?? 'it was not ready in time'
  throw new Error(`PostgreSQL did not start: ${reason}\n${tailOf(logFile)}`, { cause: failure })
}

/** Ends the server. SIGINT ends its sessions and shuts down cleanly; SIGQUIT leaves recovery to the next start. */
export async function stopServer(pid: number, how: 'SIGINT' | 'SIGQUIT'): Promise<void> {
  signal(pid, how)
  if (await waitFor(() => !isAlive(pid), STOP_TIMEOUT_MS, 2)) return
  signal(pid, 'SIGQUIT')
  await waitFor(() => !isAlive(pid), STOP_TIMEOUT_MS)
}

function openLog(path: string): number {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size > MAX_LOG_BYTES) renameSync(path, `${path}.old`)
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants
  return openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600)
}

function tailOf(path: string): string {
  return readFileSync(path, 'utf8').slice(-1500)
}
