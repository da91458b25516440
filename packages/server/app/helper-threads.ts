import { readdirSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

const NICE = 10

/**
 * Lets the main threads of all processes of the program have the processors before the threads in which V8 compiles and collects
 * garbage: callers wait for main threads. Call it at the start, when there are no other threads. Linux only, where a
 * priority belongs to a thread (sched(7)); elsewhere it does nothing.
 */
export function lowerHelperThreads(): void {
  for (const thread of listThreads()) {
    if (thread === process.pid) continue
    try {
      if (getPriority(thread) < NICE) setPriority(thread, NICE)
    } catch {
      // It has ended, or the system does not allow it. The program runs either way.
    }
  }
}

function listThreads(): number[] {
  try {
    return readdirSync('/proc/self/task').map(Number)
  } catch {
    return []
  }
}
