import { setTimeout as sleep } from 'node:timers/promises'

/** Asks until the answer is neither undefined nor false; undefined when the time is over. */
export async function waitFor<T>(
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs: number,
  stepMs = 5,
): Promise<T | undefined> {
  const end = performance.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (performance.now() > end) return undefined
    await sleep(stepMs)
  }
}
