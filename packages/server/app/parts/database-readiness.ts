import type { Pool } from 'pg'
import type { Readiness } from '../../http/metrics/readiness.ts'

/** A database that is frozen accepts connections and answers nothing. */
const WAIT_MS = 2_000
/** The shortest time between two questions to the database: any caller may ask for the readiness. */
const KEPT_MS = 1_000

/**
 * Returns the readiness of a process that serves nothing but the control plane: whether the database answers. Callers at
 * the same time share one query, and its result holds for a second.
 */
export function openDatabaseReadiness(
  pool: Pick<Pool, 'query'>,
  waitMs: number = WAIT_MS,
): () => Promise<Readiness> {
  let found: Promise<Readiness> | undefined
  let until = 0
  return () => {
    if (found === undefined || performance.now() > until) {
      until = Number.POSITIVE_INFINITY
      found = ask(pool, waitMs).finally(() => {
        until = performance.now() + KEPT_MS
      })
    }
    return found
  }
}

async function ask(pool: Pick<Pool, 'query'>, waitMs: number): Promise<Readiness> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Readiness>(resolve => {
    timer = setTimeout(() => resolve(UNREADY), waitMs)
  })
  const answered = pool.query('select 1').then(
    () => READY,
    () => UNREADY,
  )
  return await Promise.race([answered, late]).finally(() => clearTimeout(timer))
}

const READY: Readiness = { ready: true, reasons: [] }
const UNREADY: Readiness = { ready: false, reasons: ['the database does not answer'] }
