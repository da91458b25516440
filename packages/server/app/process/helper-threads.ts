import { readdirSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

const NICE = 10
/** V8's helper threads unless `--v8-pool-size` says otherwise (node(1)). */
const DEFAULT_POOL_SIZE = 4

/**
 * Lets the main threads of all processes of the program have the processors before the threads in which V8 compiles and collects
 * garbage: callers wait for main threads. libuv's threads, for which callers wait too, keep their priority. Linux only, where a
 * priority belongs to a thread (sched(7)); elsewhere it does nothing.
 */
export function lowerHelperThreads(): void {
  for (const thread of listHelperThreads()) {
    try {
      if (getPriority(thread) < NICE) setPriority(thread, NICE)
    } catch {
      // It has ended, or the system does not allow it. The program runs either way.
    }
  }
}

/**
 * Node starts V8's threads first, after the one that schedules delayed tasks for them (versions 20 to 24). Only version 24 gives
 * threads names.
 */
function listHelperThreads(): number[] {
  let threads: number[]
  try {
    threads = readdirSync('/proc/self/task').map(Number)
  } catch {
    return []
  }
  const others = threads.filter(thread => thread !== process.pid).sort((a, b) => a - b)
  return others.slice(0, 1 + readPoolSize())
}

/** Of several options the last counts, and those of the command line after those of the environment (node(1)). */
function readPoolSize(): number {
  const options = `${process.env.NODE_OPTIONS ?? ''} ${process.execArgv.join(' ')}`
  const size = [...options.matchAll(/--v8-pool-size[= ](\d+)/g)].at(-1)?.[1]
  return size === undefined ? DEFAULT_POOL_SIZE : Number(size)
}
