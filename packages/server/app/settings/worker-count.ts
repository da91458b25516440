import { readFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import path from 'node:path'

/** What a gateway worker has of the machine's memory: its program takes a fifth of it, and the rest is for bodies and answers. */
const WORKER_BYTES = 512 * 1024 * 1024
const CGROUPS = '/sys/fs/cgroup'

/** What the machine, or the container, gives this program. */
export interface Resources {
  /** Processor cores, also parts of one. */
  readonly cores: number
  readonly memoryBytes: number
}

/** Returns how many gateway workers there is a core and memory for, at least 1. */
export function toWorkerCount({ cores, memoryBytes }: Resources): number {
  return Math.max(1, Math.floor(Math.min(cores, memoryBytes / WORKER_BYTES)))
}

export function readResources(): Resources {
  const limit = process.constrainedMemory()
  // Without a limit it is 0, or a number that no machine has.
  const memoryBytes = limit > 0 ? Math.min(limit, totalmem()) : totalmem()
  return { cores: Math.min(availableParallelism(), readCpuQuota()), memoryBytes }
}

/** Returns the cores that the control groups of this process allow, which `availableParallelism` of Node 20 does not know. */
export function readCpuQuota(read: (file: string) => string = file => readFileSync(file, 'utf8')): number {
  let quota = Number.POSITIVE_INFINITY
  for (let group = readGroup(read); ; group = path.dirname(group)) {
    quota = Math.min(quota, parseCpuMax(readText(read, path.join(CGROUPS, group, 'cpu.max'))))
    if (group === '/') return quota
  }
}

/** Returns the process's group of version 2 of control groups. */
function readGroup(read: (file: string) => string): string {
  const [, group = '/'] = /^0::(\/.*)$/m.exec(readText(read, '/proc/self/cgroup')) ?? []
  return path.normalize(group)
}

/** Parses `cpu.max`, such as `150000 100000`: the microseconds of CPU time in each period, and the period in microseconds. */
function parseCpuMax(text: string): number {
  const [, quota, period] = /^(\d+) (\d+)/.exec(text) ?? []
  return quota === undefined ? Number.POSITIVE_INFINITY : Number(quota) / Number(period)
}

/** A system that is not Linux has no such files. */
function readText(read: (file: string) => string, file: string): string {
  try {
    return read(file)
  } catch {
    return ''
  }
}
