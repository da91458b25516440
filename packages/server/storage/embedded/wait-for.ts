import { setTimeout as sleep } from 'node:timers/promises'

/** Calls `probe` until it returns a value and returns that; undefined after `timeoutMs` of undefined or false. */
export async function waitFor<T>(
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs: number,
  intervalMs = 5,
): Promise<T | undefined> {
  const end = performance.now() + timeoutMs
  for (;;) {
    const value = await probe()
    if (value !== undefined && value !== false) return value
    if (performance.now() > end) return undefined
    await sleep(intervalMs)
  }
}
