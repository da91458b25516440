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

/**
 * Blocks the event loop without CPU time, as other work does with it. What is sent meanwhile fills the kernel's buffers and then arrives
 * in one tick, also where the sender has less of the processors.
 */
export function blockLoop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
