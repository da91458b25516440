import { throwLater } from '../core/on-exception.ts'

type Task = () => void
type OnError = (error: unknown) => void

let waiting: Task[] = []
/** The error handler of each waiting task, in the same order. Two arrays avoid one object per task. */
let handlers: OnError[] = []

/**
 * Runs a task after the events of this tick of the event loop, together with all other tasks of the tick. A task that
 * is alone waits for microseconds.
 *
 * When many requests take the same step one after the other, its code is still in the processor's caches
 * (docs/decisions/0011-cost-of-a-request.md). An exception of the task goes to `onError`, which ends the request of
 * that task; the other tasks still run.
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

/**
 * Await this for one microtask: the other requests of the tick reach the same point, and all take the next step
 * together.
 */
export const oneMicrotask: Promise<void> = Promise.resolve()
