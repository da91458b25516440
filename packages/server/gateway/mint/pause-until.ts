/** Resolves at `time` of `performance.now()`, or at once if it has passed. */
export async function pauseUntil(time: number): Promise<void> {
  const waitMs = time - performance.now()
  if (waitMs > 0) await new Promise(resolve => setTimeout(resolve, waitMs))
}
