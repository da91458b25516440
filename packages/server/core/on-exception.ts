/**
 * Logs and counts an exception that no caller waits for: thrown by a timer, a listener or a callback, or the reason of a
 * promise that nothing awaits. `where` names that place for the operator. Never throws.
 */
export type OnException = (error: unknown, where: string, requestId?: string) => void

/**
 * Runs `work` on behalf of a timer, a listener or a callback, which have no caller to throw to. What it throws, or what the
 * promise that it returns rejects with, goes to `onException`. Never throws.
 */
export function runGuarded(where: string, onException: OnException, work: () => unknown): void {
  try {
    const result = work()
    if (result instanceof Promise) result.catch(error => onException(error, where))
  } catch (error) {
    onException(error, where)
  }
}

/** Throws the error in a task of its own, where the process's own handler logs it (process-exceptions.ts). */
export const throwLater: OnException = error => {
  queueMicrotask(() => {
    throw error
  })
}
