import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, type Stats, statSync } from 'node:fs'
import { basename, join } from 'node:path'

/** A cluster as its processes show it: by the folder they sit in, and by the name in their command lines. */
export interface ClusterMark {
  readonly dir: string
  readonly name: string
}

export interface PidFile {
  readonly pid: number
  readonly port: number
  readonly socketDir: string
  /** `starting`, `ready`, `stopping`; empty in a file that is not written to its end. */
  readonly status: string
}

/** What a running or a dead postmaster wrote of itself; undefined where there is no file. An empty file has pid 0. */
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

/** A zombie counts as dead: under a first process that reaps nothing it answers signals for ever. */
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
 * Whether that process is a PostgreSQL of this very cluster: a process id alone may be anyone's by now. The folder
 * decides, by inode. Where it cannot be seen (no /proc, or root without the right to trace) the command line does.
 */
export function isServerOf(pid: number, cluster: ClusterMark): boolean {
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
 * Living processes of the cluster. After a kill -9 of the postmaster a busy backend lives on and holds the shared
 * memory, and a new server refuses to start. Without /proc none are found: the server's own words must do.
 */
export function listServerProcesses(cluster: ClusterMark): number[] {
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

/** Signals a process that may have ended meanwhile. */
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
