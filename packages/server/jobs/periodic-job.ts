import { type OnException, runGuarded, throwLater } from '../core/on-exception.ts'

export const HOUR_MS = 3_600_000

/** Where a job reports what it did, and a run that failed. */
export interface JobLog {
  info(details: object, message: string): void
  error(details: object, message: string): void
}

export interface PeriodicJob {
  /** Resolves when the first run has ended. */
  readonly first: Promise<void>
  /** Starts no further run, aborts the current one and resolves when it has ended. */
  close(): Promise<void>
}

/** Calls `run`, which must not reject, at once and then every `everyMs`. Skips a run while the previous one lasts. */
export function openPeriodicJob(
  run: (signal: AbortSignal) => Promise<void>,
  everyMs: number,
  onException: OnException = throwLater,
): PeriodicJob {
  const closing = new AbortController()
  let running: Promise<void> | undefined
  function start(): Promise<void> {
    running ??= run(closing.signal).finally(() => {
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
      closing.abort()
      await running
    },
  }
}
