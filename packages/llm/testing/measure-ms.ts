import { GCProfiler } from 'node:v8'
import { readThreadMs } from './read-thread-ms.ts'

/**
 * Starts measuring; the returned function returns the CPU time of this thread since, in milliseconds, without the collection of garbage:
 * what is collected, and for how long, depends on what the tests before it left behind. On a busy machine one such pause took 94 ms.
 */
export function startMeasuring(): () => number {
  const profiler = new GCProfiler()
  profiler.start()
  const startedAt = readThreadMs()
  return () => {
    const usedMs = readThreadMs() - startedAt
    const { statistics } = profiler.stop()
    // Pauses are told by the clock, in microseconds. They can be longer than the CPU time that they took.
    const pausedMs = statistics.reduce((sum, { cost }) => sum + cost, 0) / 1_000
    return Math.max(0, usedMs - pausedMs)
  }
}

/** Returns what some work takes, as startMeasuring does. */
export function measureMs(work: () => void): number {
  const stop = startMeasuring()
  work()
  return stop()
}

/** Runs all steps of some work. Returns what the longest one took, as startMeasuring does. */
export function measureLongestStep(steps: Iterator<void, unknown>): number {
  let longestMs = 0
  for (let isDone = false; !isDone; ) {
    const usedMs = measureMs(() => {
      isDone = steps.next().done === true
    })
    longestMs = Math.max(longestMs, usedMs)
  }
  return longestMs
}
