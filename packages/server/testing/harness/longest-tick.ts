import { GCProfiler } from 'node:v8'
import { readThreadMs } from '@rideau/llm/testing/read-thread-ms'

/**
 * Runs some work. Resolves with the CPU time of the longest tick of the event loop until its end, in milliseconds, without the collection
 * of garbage, as measureMs has it. Rejects as the work does.
 */
export async function measureLongestTick(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0
  let isOver = false
  let ended: Promise<unknown> | undefined
  while (!isOver) {
    const profiler = new GCProfiler()
    profiler.start()
    const startedAt = readThreadMs()
    ended ??= work().finally(() => (isOver = true))
    await new Promise(resolve => setImmediate(resolve))
    const usedMs = readThreadMs() - startedAt
    const pausedMs = profiler.stop().statistics.reduce((sum, { cost }) => sum + cost, 0) / 1_000
    longestMs = Math.max(longestMs, usedMs - pausedMs)
  }
  await ended
  return longestMs
}
