import type { Exceptions } from './exceptions.ts'

/** Called once the program has started: from then on exceptions do not end it. */
export type MarkStarted = () => void

/**
 * Handles exceptions that nothing else caught: logs an alarm and counts it. Before `started` is called it runs `beforeExit` and
 * ends the process with code 1, because a partly started program must not serve. Afterwards the process continues: such an exception comes
 * from a callback of one request or from work that a timer repeats, and ending the process would cut off all other requests
 * (docs/decisions/0022-exceptions.md).
 */
export function handleProcessExceptions(
  exceptions: Exceptions,
  beforeExit: () => Promise<void> = async () => {},
): MarkStarted {
  let isStarted = false
  const handle = (error: unknown, where: string): void => {
    exceptions.noteProcess(error, where)
    if (!isStarted) void beforeExit().finally(() => process.exit(1))
  }
  process.on('uncaughtException', error => handle(error, 'uncaughtException'))
  process.on('unhandledRejection', reason => handle(reason, 'unhandledRejection'))
  return () => {
    isStarted = true
  }
}
