import { startMeasuring } from '@rideau/llm/testing/measure-ms'

/**
 * Runs some work. Resolves with the CPU time of the longest tick of the event loop until its end, in milliseconds, as startMeasuring has
 * it. Rejects as the work does.
 */
export async function measureLongestTick(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0
  let isOver = false
  let ended: Promise<unknown> | undefined
  while (!isOver) {
    const stop = startMeasuring()
    ended ??= work().finally(() => (isOver = true))
    await new Promise(resolve => setImmediate(resolve))
    longestMs = Math.max(longestMs, stop())
  }
  await ended
  return longestMs
}
