import { throwLater } from '../core/on-exception.ts'

type Task = () => void
type OnError = (error: unknown) => void

let waiting: Task[] = []
/** What each of them does with its exception, in the same order: two lists spare an object for each task. */
let handlers: OnError[] = []

/**
 * Runs a task behind the events of this turn of the event loop, together with all that became ready in it. Many requests
 * that take the same step one after the other find its code in the processor's caches; a request that is carried from end
 * to end alone finds it driven out by all that was in between (decision 0011). Alone, a task waits for microseconds.
 *
 * What the task throws goes to `onError`, which ends the request of that task: the other requests go on.
 */
export function batchInTick(task: Task, onError: OnError): void {
  handlers.push(onError)
  if (waiting.push(task) === 1) setImmediate(runAll)
}

function runAll(): void {
  const tasks = waiting
  const onErrors = handlers
  waiting = []
  handlers = []
  for (let at = 0; at < tasks.length; at++) {
    try {
      ;(tasks[at] as Task)()
    } catch (error) {
      handle(error, onErrors[at] as OnError)
    }
  }
}

function handle(error: unknown, onError: OnError): void {
  try {
    onError(error)
  } catch (another) {
    throwLater(another, 'a task of this tick')
  }
}

/** To wait for: lets the other requests of this turn come as far as this one, so that they take the next step together. */
export const oneMicrotask: Promise<void> = Promise.resolve()
