import { LogPace } from '../core/log-pace.ts'
import { type OnException, throwLater } from '../core/on-exception.ts'
import { OwnerLines } from './owner-lines.ts'
import { openPeriodicJob } from './periodic-job.ts'

const FLUSH_EVERY_MS = 1_000
/** Circuits of one owner, and of all, whose changes wait at once. A change beyond that is not stored. */
const MAX_WAITING_OF_ONE = 1_000
const MAX_WAITING = 20_000

/** A circuit as it is stored. */
export interface NotedCircuit {
  readonly credentialId: string
  readonly model: string
  readonly isOpening: boolean
}

export interface CircuitsJobOptions<C extends NotedCircuit> {
  /** Stores a circuit. Storing it again changes nothing. */
  readonly store: (circuit: C) => Promise<void>
  readonly log: { error(details: object, message: string): void }
  readonly onException?: OnException
  readonly flushEveryMs?: number
}

export interface CircuitsJob<C extends NotedCircuit> {
  /** Notes a change, which is stored within about a second. `orgId`: whose turn it takes. Returns at once, never throws. */
  note(orgId: string, circuit: C): void
  /** Stores what was noted, and ends. */
  close(): Promise<void>
}

/**
 * Stores circuits that changed, so that the control plane can show them. Of several changes of one circuit only the last is
 * stored. Owners take turns. While the database is away changes wait, one for each circuit.
 */
export function openCircuitsJob<C extends NotedCircuit>(options: CircuitsJobOptions<C>): CircuitsJob<C> {
  const { store, log, onException = throwLater, flushEveryMs = FLUSH_EVERY_MS } = options
  const lines = new OwnerLines<C>({
    maxOfOne: MAX_WAITING_OF_ONE,
    max: MAX_WAITING,
    merge: (earlier, later) => ({ ...later, isOpening: earlier.isOpening || later.isOpening }),
  })
  const pace = new LogPace()

  function note(orgId: string, circuit: C): void {
    const { credentialId, model } = circuit
    if (lines.add(orgId, `${credentialId}/${model}`, circuit)) return
    const message = 'too many circuits wait to be stored; this change is not'
    if (pace.isDue(performance.now())) log.error({ credentialId, model }, message)
  }

  function flush(): Promise<void> {
    return lines.drain(store, (error, orgId) =>
      log.error({ err: error, orgId, waiting: lines.size }, 'a circuit could not be stored; retrying'),
    )
  }

  const flushing = openPeriodicJob(flush, flushEveryMs, onException)
  return {
    note,
    async close() {
      await flushing.close()
      await flush()
    },
  }
}
