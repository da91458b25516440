import { spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Account, spawnAs } from './account.ts'
import { explain, placeOf, SERVER_ENV } from './cluster.ts'
import { type ClusterMark, isAlive, isServerOf, listServerProcesses, readPidFile, signal } from './process.ts'
import { waitFor } from './wait.ts'

/** Recovery after a crash replays up to max_wal_size, which a slow disk takes its time for. */
const START_PATIENCE_MS = 120_000
const STOP_PATIENCE_MS = 30_000
const LOG_BYTES = 16 * 1024 * 1024

/** The socket's port names only the socket's file. */
const SOCKET_PORT = 5432

export interface RunningServer {
  readonly pid: number
  readonly port: number
  readonly socketDir: string
}

/**
 * The server that a killed parent left, once it is ready. Where it does not get ready, it and its stragglers are
 * ended and what it left lying is cleared away: undefined then, and a new server may start.
 */
export async function adoptServer(cluster: ClusterMark, usable: boolean): Promise<RunningServer | undefined> {
  const left = readPidFile(cluster.dir)
  if (left !== undefined && isAlive(left.pid) && isServerOf(left.pid, cluster)) {
    if (usable) {
      const settled = await waitFor(() => {
        const now = readPidFile(cluster.dir)
        return !isAlive(left.pid) || now?.status === 'ready'
      }, START_PATIENCE_MS)
      const now = readPidFile(cluster.dir)
      if (settled === true && now?.status === 'ready' && isAlive(now.pid)) return now
    }
    await stopServer(left.pid, 'SIGINT')
  }
  for (const pid of listServerProcesses(cluster)) signal(pid, 'SIGQUIT')
  await waitFor(() => listServerProcesses(cluster).length === 0, STOP_PATIENCE_MS)
  // Stale, empty, or the pid is another process's by now: the server alone would refuse it for ever.
  rmSync(join(cluster.dir, 'postmaster.pid'), { force: true })
  return undefined
}

/** Starts the server and waits until it takes connections. Its own messages go to logFile, never to a pipe. */
export async function launchServer(options: {
  readonly binDir: string
  readonly cluster: ClusterMark
  readonly account: Account
  readonly reachable: boolean
  readonly socketDir: string
  readonly logFile: string
  readonly settings: Readonly<Record<string, string>>
}): Promise<RunningServer> {
  const { cluster, account, socketDir, logFile } = options
  clearSocketFolder(socketDir, account)
  const place = placeOf(cluster.dir, options.reachable)
  const settings = {
    ...options.settings,
    cluster_name: cluster.name,
    listen_addresses: '',
    unix_socket_directories: socketDir,
    unix_socket_permissions: '0700',
    port: String(SOCKET_PORT),
  }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const log = openLog(logFile)
  let failure: Error | undefined
  // Detached: Ctrl-C is for us; the server goes down last, when our requests have drained.
  const child = spawn(join(options.binDir, 'postgres'), ['-D', place.argument, ...args], {
    ...spawnAs(account),
    cwd: place.cwd,
    env: SERVER_ENV,
    detached: true,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  child.unref()
  child.once('error', error => {
    failure = explain(error, account)
  })
  child.once('exit', (code, name) => {
    failure = new Error(`it ended with ${code ?? name}`)
  })
  const isReady = (): boolean => {
    const file = readPidFile(cluster.dir)
    return file?.pid === child.pid && file?.status === 'ready'
  }
  const settled = await waitFor(() => failure !== undefined || isReady(), START_PATIENCE_MS, 2)
  if (failure === undefined && settled === true && child.pid !== undefined) {
    return { pid: child.pid, port: SOCKET_PORT, socketDir }
  }
  child.kill('SIGQUIT')
  rmSync(socketDir, { recursive: true, force: true })
  const reason = failure?.message ?? 'it was not ready in time'
  throw new Error(`PostgreSQL did not start: ${reason}\n${tailOf(logFile)}`, { cause: failure })
}

/** SIGINT ends sessions and shuts down cleanly; SIGQUIT leaves recovery to the next start. */
export async function stopServer(pid: number, how: 'SIGINT' | 'SIGQUIT'): Promise<void> {
  signal(pid, how)
  if (await waitFor(() => !isAlive(pid), STOP_PATIENCE_MS, 2)) return
  signal(pid, 'SIGQUIT')
  await waitFor(() => !isAlive(pid), STOP_PATIENCE_MS)
}

/** Ours or the account's, and empty: without a living server a lock file in it would still be believed. */
function clearSocketFolder(dir: string, account: Account): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const found = lstatSync(dir)
  if (!found.isDirectory() || (found.uid !== account.uid && found.uid !== process.geteuid?.())) {
    throw new Error(`${dir}, the database's socket folder, belongs to another user: remove it or set TMPDIR`)
  }
  try {
    if (account.switched) chownSync(dir, account.uid, account.gid)
  } catch (error) {
    throw explain(error, account)
  }
  chmodSync(dir, 0o700)
  for (const name of readdirSync(dir)) rmSync(join(dir, name), { recursive: true, force: true })
}

function openLog(path: string): number {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size > LOG_BYTES) renameSync(path, `${path}.old`)
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants
  return openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600)
}

function tailOf(path: string): string {
  return readFileSync(path, 'utf8').slice(-1500)
}
