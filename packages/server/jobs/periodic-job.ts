import { type OnException, runGuarded, throwLater } from '../core/on-exception.ts'

export const HOUR_MS = 3_600_000

export interface PeriodicJob {
  /** Resolves when the first run has ended. */
  readonly first: Promise<void>
  /** Starts no further run and resolves when the current one has ended. */
  close(): Promise<void>
}

/** Calls `run`, which must not reject, at once and then every `everyMs`. Skips a run while the previous one lasts. */
export function openPeriodicJob(
  run: () => Promise<void>,
  everyMs: number,
  onException: OnException = throwLater,
): PeriodicJob {
  let running: Promise<void> | undefined
  function start(): Promise<void> {
    running ??= run().finally(() => {
      running = undefined
    })
    return running
  }
  const first = start()
  const timer = setInterval(() => runGuarded('a periodic job', onException, start), everyMs)
  timer.unref()
  return {
    first,
    async close() {
      clearInterval(timer)
      await running
    },
  }
}
