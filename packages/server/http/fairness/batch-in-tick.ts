import { throwLater } from '../../core/on-exception.ts'

type Task = () => void
type OnError = (error: unknown) => void

/** The time that tasks may take in one tick, in milliseconds. The last task may exceed it. */
const TICK_MS = 4

let waiting: Task[] = []
/** The error handler of each waiting task, in the same order. Two arrays avoid one object per task. */
let handlers: OnError[] = []
let isScheduled = false

/**
 * Runs a task after the events of this tick of the event loop, together with all other tasks of the tick. A task that
 * is alone waits for microseconds. Tasks that take longer than 4 ms together leave the rest of them to the next ticks, in order.
 *
 * When many requests take the same step one after the other, its code is still in the processor's caches
 * (docs/decisions/0011-cost-of-a-request.md). An exception of the task goes to `onError`, which ends the request of
 * that task; the other tasks still run.
 */
export function batchInTick(task: Task, onError: OnError): void {
  handlers.push(onError)
  waiting.push(task)
  schedule()
}

function schedule(): void {
  if (isScheduled) return
  isScheduled = true
  setImmediate(runAll)
}

function runAll(): void {
  const until = performance.now() + TICK_MS
  const tasks = waiting
  const onErrors = handlers
  waiting = []
  handlers = []
  isScheduled = false
  for (let at = 0; at < tasks.length; at++) {
    if (at > 0 && performance.now() >= until) {
      waiting = tasks.slice(at).concat(waiting)
      handlers = onErrors.slice(at).concat(handlers)
      schedule()
      return
    }
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
