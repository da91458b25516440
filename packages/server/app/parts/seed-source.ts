import { DatabaseError } from 'pg'
import type { Meter } from '../../core/limits/meter.ts'
import { FairSlots } from '../../http/fairness/fair-slots.ts'
import { type SeedSource, SeedStatementError } from '../../ledger/seed-source.ts'
import type { UsageSnapshot } from '../../storage/usage/usage-seeds.ts'
import type { RecordBarrier } from './records.ts'

/** Reads at once, each with a connection: as many as the counters of one process start (ledger/process/counter-seeder.ts). */
const MAX_READS = 4
/** The last free place goes to an organization that has none. */
const MAX_READS_PER_ORGANIZATION = 2
const WAITING_PER_ORGANIZATION = 1_000
/** For records before a read to be stored: as long as a supervisor waits for its workers, and Redis for a seed. */
const STORED_TIMEOUT_MS = 8_000

interface SeedSourceParts {
  readonly stored: Pick<RecordBarrier, 'afterFlush'>
  readonly openSnapshot: (statementTimeoutMs: number) => Promise<UsageSnapshot>
}

/**
 * A read of seeds sees the database as it is while the drain writes nothing, so it is known which records are missing in it.
 * The drain then goes on, however long the read takes. Few reads run at once, and of one organization fewer: the others wait.
 */
export function openSeedSource({ stored, openSnapshot }: SeedSourceParts): SeedSource {
  const slots = new FairSlots({
    total: MAX_READS,
    perTenant: MAX_READS_PER_ORGANIZATION,
    perCaller: MAX_READS_PER_ORGANIZATION,
    divisor: 1,
    waitingPerTenant: WAITING_PER_ORGANIZATION,
  })
  return {
    async read(meters, at, onSnapshot, without, timeoutMs) {
      const tenant = tenantOf(meters)
      const caller = `caller in ${tenant}`
      const startedAt = performance.now()
      if (!(await slots.acquire(tenant, caller, timeoutMs))) {
        throw new SeedStatementError('too many reads of past usage run at once')
      }
      const leftMs = timeoutMs - (performance.now() - startedAt)
      try {
        const snapshot = await readStored(stored, async missing => {
          onSnapshot(missing)
          return await openSnapshot(leftMs)
        })
        try {
          return await snapshot.listSeeds(meters, at, without ?? [])
        } catch (error) {
          throw isOfStatement(error) ? new SeedStatementError(error.message, { cause: error }) : error
        } finally {
          await snapshot.close()
        }
      } finally {
        slots.release(tenant, caller)
      }
    },
  }
}

/** Reads once earlier records are stored. Rejects if that takes too long, and then never reads. */
async function readStored<T>(
  stored: SeedSourceParts['stored'],
  read: (missing: ReadonlySet<string>) => Promise<T>,
): Promise<T> {
  const wait = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      wait.abort(new Error(`earlier usage records were not stored within ${STORED_TIMEOUT_MS} ms`))
      reject(wait.signal.reason)
    }, STORED_TIMEOUT_MS)
  })
  const reading = stored.afterFlush(async missing => {
    // Journals of other processes are waited for without the signal.
    wait.signal.throwIfAborted()
    clearTimeout(timer)
    return await read(missing)
  }, wait.signal)
  try {
    return await Promise.race([late, reading])
  } finally {
    clearTimeout(timer)
  }
}

/** Returns the organization; of meters of several, a name that they share. */
function tenantOf(meters: readonly Meter[]): string {
  const orgIds = new Set(meters.map(({ subject }) => subject.orgId))
  const [orgId] = orgIds
  return orgIds.size === 1 && orgId !== undefined ? orgId : 'several organizations'
}

/** Returns true if PostgreSQL ended the statement at its timeout (57014), or failed at what it read. */
function isOfStatement(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && /^(57014|22)/.test(error.code ?? '')
}
