import type { Exceptions } from './exceptions.ts'

/** Says that the program is complete: exceptions no longer end it. */
export type Started = () => void

/**
 * Handles what nothing else caught, for the whole process: logs an alarm and counts it. Before `started` it ends the process
 * with code 1, because a program that is built halfway must not serve. Afterwards the process lives on: whatever reaches this
 * place comes from the callback of one request, or from work that its timer repeats, and to end the process would cut off all
 * other requests for it (docs/decisions/0022-exceptions.md).
 */
export function handleProcessExceptions(exceptions: Exceptions): Started {
  let isStarted = false
  const handle = (error: unknown, where: string): void => {
    exceptions.noteProcess(error, where)
    if (!isStarted) process.exit(1)
  }
  process.on('uncaughtException', error => handle(error, 'uncaughtException'))
  process.on('unhandledRejection', reason => handle(reason, 'unhandledRejection'))
  return () => {
    isStarted = true
  }
}
