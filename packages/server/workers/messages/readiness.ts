import { type OnException, runGuarded } from '../../core/on-exception.ts'
import type { SupervisorCalls } from '../channel/supervisor-calls.ts'
import type { WorkerCalls } from '../channel/worker-calls.ts'

const READINESS = 'readiness'
const OTHERS = 'readiness of the others'
/** How often a worker looks for a change of its own. */
const EVERY_MS = 100

/** Whether a process can serve, and what limits it. */
interface Readiness {
  readonly ready: boolean
  readonly reasons: readonly string[]
}

export interface SharedReadiness {
  /** That of all workers together: ready if each of them is. */
  readonly all: () => Readiness
}

/** Tells each worker how ready the others are. */
export function serveReadiness(calls: SupervisorCalls): SharedReadiness {
  const known = new Map<string, Readiness>()
  const of = (except?: string): Readiness[] => {
    const { workers } = calls
    for (const name of known.keys()) if (!workers.includes(name)) known.delete(name)
    return [...known].filter(([name]) => name !== except).map(([, item]) => item)
  }
  calls.handle(READINESS, (body, from) => {
    known.set(from, body as Readiness)
    for (const worker of calls.workers) calls.notify(worker, OTHERS, merge(of(worker)))
  })
  const none = { ready: false, reasons: ['no gateway worker runs'] }
  return {
    all() {
      const states = of()
      return states.length === 0 ? none : merge(states)
    },
  }
}

/** Answers for all workers. `own` returns the readiness of this one. */
export function connectReadiness(
  calls: WorkerCalls,
  own: () => Readiness,
  onException: OnException,
): SharedReadiness & { close(): void } {
  let others: Readiness = { ready: true, reasons: [] }
  let sent = ''
  calls.handle(OTHERS, body => {
    others = body as Readiness
  })
  const report = (): void => {
    const readiness = own()
    const text = JSON.stringify(readiness)
    if (text === sent) return
    sent = text
    calls.notify(READINESS, readiness)
  }
  const timer = setInterval(() => runGuarded('the readiness of this worker', onException, report), EVERY_MS)
  timer.unref()
  calls.onConnection(
    () => {
      sent = ''
    },
    () => {
      others = { ready: true, reasons: [] }
    },
  )
  return { all: () => merge([own(), others]), close: () => clearInterval(timer) }
}

function merge(states: readonly Readiness[]): Readiness {
  return {
    ready: states.every(({ ready }) => ready),
    reasons: [...new Set(states.flatMap(({ reasons }) => reasons))],
  }
}
