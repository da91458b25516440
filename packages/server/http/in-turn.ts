type Task = () => void

let waiting: Task[] = []

/**
 * Runs a task behind the events of this turn of the event loop, together with all that became ready in it. Many requests
 * that take the same step one after the other find its code in the processor's caches; a request that is carried from end
 * to end alone finds it driven out by all that was in between (decision 0011). Alone, a task waits for microseconds.
 */
export function inTurn(task: Task): void {
  if (waiting.push(task) === 1) setImmediate(runAll)
}

function runAll(): void {
  const tasks = waiting
  waiting = []
  for (const task of tasks) {
    try {
      task()
    } catch (error) {
      // As loud as without us, but no reason for the others to wait forever.
      process.nextTick(() => {
        throw error
      })
    }
  }
}

/** To wait for: lets the other requests of this turn come as far as this one, so that they take the next step together. */
export const othersToCatchUp: Promise<void> = Promise.resolve()
