import { readFileSync } from 'node:fs'

/** Returns the name of the folder in which a worker keeps its journal. */
export function toWorkerFolder(pid: number, worker: string): string {
  return `${pid}-${worker}`
}

/**
 * Whether the worker that writes the folder of this name still runs: its supervisor may have been killed a moment ago. A
 * process id may belong to another program by now, but only a worker has its name among its arguments.
 */
export function isWorkerRunning(folder: string): boolean {
  const [, pid, worker] = /^(\d+)-(.+)$/.exec(folder) ?? []
  if (pid === undefined || worker === undefined) return false
  try {
    process.kill(Number(pid), 0)
  } catch {
    return false
  }
  if (process.platform !== 'linux') return true
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(worker)
  } catch {
    return false
  }
}
