import path from 'node:path'
import type { Logger } from 'pino'
import { toMeteredUsage } from '../core/metered-usage.ts'
import type { RecordLine, RequestRecord } from '../core/request-record.ts'
import { Drain } from '../journal/drain.ts'
import { openJournal } from '../journal/journal.ts'
import { openSetAside } from '../journal/set-aside.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Storage } from '../storage/open-storage.ts'
import { insertRequestRecords } from '../storage/request-logs.ts'

/** Counts of records that were not stored as they were, since the start. */
export interface RecordCounts {
  /** Records stored without their texts, because the database refused them at first. */
  reduced(): number
  /** Records kept in a file, because the database refuses them in any form. */
  setAside(): number
  /** Refused requests without a record, because the journal was nearly full. */
  shed(): number
}

export interface Records {
  readonly drain: Drain
  readonly recordCounts: RecordCounts
  /** Sets the ledger that settles the requests of a killed run, whose reservations shared counters still contain. */
  openFor(ledger: Ledger): void
}

export interface RecordsParts {
  /** Contains the journal's folder and the files of records that the database refuses. */
  readonly dataDir: string
  readonly now: () => number
  readonly maxBytes: number
  /** The counters of limits are shared with other processes. */
  readonly isShared: boolean
  readonly log: Logger
  readonly storage: Storage
}

/** Opens the journal of this process and the drain that writes it to the database. */
export function openRecords({ dataDir, maxBytes, isShared, now, log, storage }: RecordsParts): Records {
  const folder = path.join(dataDir, 'journal')
  const setAside = openSetAside(dataDir, { now })
  let reduced = 0
  const journal = openJournal(folder, {
    onError: error => log.error({ err: error }, 'the journal could not be synced to disk'),
  })
  let openFor: (ledger: Ledger) => void = () => {}
  const opened = new Promise<Ledger>(resolve => {
    openFor = resolve
  })
  const onReplayed = async (lines: readonly RecordLine[]): Promise<void> =>
    (await opened).settleRecovered(lines.filter(({ id }) => id !== '').map(toSettlement))
  const drain = new Drain({
    folder,
    journal,
    maxBytes,
    log,
    // The counters of a single process end with it, so there is nothing to settle.
    ...(isShared ? { onReplayed } : {}),
    insert: async records => {
      const { rejected } = await insertRequestRecords(storage.pool, records, (id, reason) => {
        reduced++
        log.error({ id, reason }, 'a usage record was refused by the database and stored without its texts')
      })
      if (rejected.length === 0) return
      // Written before the journal removes the segment. If this throws, the batch is inserted again.
      setAside.append(rejected)
      for (const { id, reason } of rejected) {
        log.error({ id, reason }, 'a usage record was refused by the database and set aside in a file')
      }
    },
  })
  const recordCounts = { reduced: () => reduced, setAside: () => setAside.count(), shed: () => drain.shed() }
  return { drain, recordCounts, openFor }
}

function toSettlement({ json }: RecordLine): Parameters<Ledger['settleRecovered']>[0][number] {
  const record = JSON.parse(json) as RequestRecord
  return { id: record.id, orgId: record.org_id, usage: toMeteredUsage(record) }
}
