import { type OnException, runGuarded, throwLater } from '../core/on-exception.ts'

export const HOUR_MS = 3_600_000

export interface Periodic {
  /** The run that was begun at once. */
  readonly first: Promise<void>
  /** Lets a run that is under way end. */
  close(): Promise<void>
}

/** Runs `run`, which handles its own failures, at once and every `everyMs`; never two at a time. */
export function openPeriodic(
  run: () => Promise<void>,
  everyMs: number,
  onException: OnException = throwLater,
): Periodic {
  let running: Promise<void> | undefined
  function start(): Promise<void> {
    running ??= run().finally(() => {
      running = undefined
    })
    return running
  }
  const first = start()
  const timer = setInterval(() => runGuarded('a job', onException, start), everyMs)
  timer.unref()
  return {
    first,
    async close() {
      clearInterval(timer)
      await running
    },
  }
}
