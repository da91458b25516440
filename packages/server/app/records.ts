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

/** What became of records that could not be kept as they were, since the start. */
export interface RecordCounts {
  /** Stored without their texts, since the database refused them as they were. */
  reduced(): number
  /** Kept in a file, since the database refuses them in any form. */
  setAside(): number
  /** Of refused requests, left out while the journal was nearly full. */
  shed(): number
}

export interface Records {
  readonly drain: Drain
  readonly recordCounts: RecordCounts
  /** Counters that are shared still hold what a killed run held: they are told what came of it. */
  openFor(ledger: Ledger): void
}

export interface RecordsParts {
  /** Holds the journal's folder, and the files of what the database refuses. */
  readonly dataDir: string
  readonly now: () => number
  readonly maxBytes: number
  /** The counters of limits are shared with other processes. */
  readonly isShared: boolean
  readonly log: Logger
  readonly storage: Storage
}

/** The journal of this process, and what carries it to the database. */
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
    (await opened).settleRecovered(lines.filter(({ id }) => id !== '').map(toEnd))
  const drain = new Drain({
    folder,
    journal,
    maxBytes,
    log,
    // Counters of one process end with it.
    ...(isShared ? { onReplayed } : {}),
    insert: async records => {
      const { rejected } = await insertRequestRecords(storage.pool, records, (id, reason) => {
        reduced++
        log.error({ id, reason }, 'a usage record was refused by the database and stored without its texts')
      })
      if (rejected.length === 0) return
      // On the disk before the journal lets go of them. Where that fails the batch is inserted again.
      setAside.append(rejected)
      for (const { id, reason } of rejected) {
        log.error({ id, reason }, 'a usage record was refused by the database and set aside in a file')
      }
    },
  })
  const recordCounts = { reduced: () => reduced, setAside: () => setAside.count(), shed: () => drain.shed() }
  return { drain, recordCounts, openFor }
}

function toEnd({ json }: RecordLine): Parameters<Ledger['settleRecovered']>[0][number] {
  const record = JSON.parse(json) as RequestRecord
  return { id: record.id, orgId: record.org_id, usage: toMeteredUsage(record) }
}
