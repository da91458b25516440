import { type OnException, throwLater } from '../core/on-exception.ts'
import { openPeriodicJob } from './periodic-job.ts'

const FLUSH_EVERY_MS = 1_000

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
  /** Notes a change, which is stored within about a second. Returns at once, never throws. */
  note(circuit: C): void
  /** Stores what was noted, and ends. */
  close(): Promise<void>
}

/**
 * Stores circuits that changed, so that the control plane can show them. Of several changes of one circuit only the last is
 * stored. While the database is away they wait, one for each circuit.
 */
export function openCircuitsJob<C extends NotedCircuit>(options: CircuitsJobOptions<C>): CircuitsJob<C> {
  const { store, log, onException = throwLater, flushEveryMs = FLUSH_EVERY_MS } = options
  const waiting = new Map<string, C>()

  function note(circuit: C): void {
    const key = `${circuit.credentialId}/${circuit.model}`
    const isOpening = circuit.isOpening || waiting.get(key)?.isOpening === true
    waiting.set(key, { ...circuit, isOpening })
  }

  async function flush(): Promise<void> {
    for (const [key, circuit] of waiting) {
      waiting.delete(key)
      try {
        await store(circuit)
      } catch (error) {
        if (waiting.has(key)) note({ ...(waiting.get(key) as C), isOpening: circuit.isOpening })
        else waiting.set(key, circuit)
        log.error({ err: error, waiting: waiting.size }, 'a circuit could not be stored; retrying')
        return
      }
    }
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
