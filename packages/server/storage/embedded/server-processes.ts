import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, type Stats, statSync } from 'node:fs'
import { basename, join } from 'node:path'

/** How the processes of a cluster are recognized: by their working folder, and by the name in their command lines. */
export interface ClusterIdentity {
  readonly dir: string
  readonly name: string
}

export interface PidFile {
  readonly pid: number
  readonly port: number
  readonly socketDir: string
  /** `starting`, `ready` or `stopping`. Empty if the file was not written completely. */
  readonly status: string
}

/** The `postmaster.pid` of a running or dead server; undefined if there is no file. An empty file gives pid 0. */
export function readPidFile(clusterDir: string): PidFile | undefined {
  let text: string
  try {
    text = readFileSync(join(clusterDir, 'postmaster.pid'), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const lines = text.split('\n')
  return {
    pid: Number(lines[0]) || 0,
    port: Number(lines[3]) || 0,
    socketDir: lines[4] ?? '',
    status: (lines[7] ?? '').trim(),
  }
}

/** True if the process runs. A zombie does not: if no parent reaps it, it would exist for ever. */
export function isAlive(pid: number): boolean {
  if (pid <= 0) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  try {
    return !/^\d+ \(.*\) [ZX] /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return true
  }
}

/**
 * True if the process is a PostgreSQL server of this cluster; a process id alone may have been reused. Compares the
 * working folder by inode. Where that is not readable (no /proc, or no right to trace) it compares the command line.
 */
export function isServerOf(pid: number, cluster: ClusterIdentity): boolean {
  let cwd: Stats
  let program: string
  try {
    cwd = statSync(`/proc/${pid}/cwd`)
    program = readlinkSync(`/proc/${pid}/exe`)
  } catch {
    const line = readCommandLine(pid)
    return line.includes(`cluster_name=${cluster.name}`) || line.startsWith(`postgres: ${cluster.name}: `)
  }
  const dir = statSync(cluster.dir)
  return (
    cwd.ino === dir.ino &&
    cwd.dev === dir.dev &&
    basename(program.replace(/ \(deleted\)$/, '')) === 'postgres'
  )
}

/**
 * Running processes of the cluster. After a kill -9 of the postmaster a busy backend keeps running and keeps the shared
 * memory, so that a new server does not start. Empty without /proc: the new server's error message has to suffice.
 */
export function listServerProcesses(cluster: ClusterIdentity): number[] {
  let names: string[]
  try {
    names = readdirSync('/proc')
  } catch {
    return []
  }
  return names
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(pid => pid !== process.pid && isServerOf(pid, cluster) && isAlive(pid))
}

/** Sends a signal. Does nothing if the process has ended. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function readCommandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    if (process.platform === 'linux') return ''
    return spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? ''
  }
}
