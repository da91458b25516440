import { readThreadMs } from './read-thread-ms.ts'

/** Runs all steps of some work. Returns the CPU time of the longest one in milliseconds. */
export function measureLongestStep(steps: Iterator<void, unknown>): number {
  let longestMs = 0
  for (let isDone = false; !isDone; ) {
    const startedAt = readThreadMs()
    isDone = steps.next().done === true
    longestMs = Math.max(longestMs, readThreadMs() - startedAt)
  }
  return longestMs
}
