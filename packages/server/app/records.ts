import type { Logger } from 'pino'
import type { RecordLine, RequestRecord } from '../core/request-record.ts'
import { toUsed } from '../core/to-used.ts'
import { Drain } from '../journal/drain.ts'
import { openJournal } from '../journal/journal.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Storage } from '../storage/open-storage.ts'
import { insertRequestRecords } from '../storage/request-logs.ts'

export interface Records {
  readonly drain: Drain
  /** Counters that are shared still hold what a killed run held: they are told what came of it. */
  openFor(ledger: Ledger): void
}

export interface RecordsParts {
  /** Of the journal. */
  readonly folder: string
  readonly maxBytes: number
  /** The counters of limits are shared with other processes. */
  readonly isShared: boolean
  readonly log: Logger
  readonly storage: Storage
}

/** The journal of this process, and what carries it to the database. */
export function openRecords({ folder, maxBytes, isShared, log, storage }: RecordsParts): Records {
  const journal = openJournal(folder, {
    onError: error => log.error({ err: error }, 'the journal could not be synced to disk'),
  })
  let openFor: (ledger: Ledger) => void = () => {}
  const opened = new Promise<Ledger>(resolve => {
    openFor = resolve
  })
  const onReplayed = async (lines: readonly RecordLine[]): Promise<void> =>
    (await opened).settleFormer(lines.map(toEnd))
  const drain = new Drain({
    folder,
    journal,
    maxBytes,
    log,
    // Counters of one process end with it.
    ...(isShared ? { onReplayed } : {}),
    insert: async records => {
      const { rejected } = await insertRequestRecords(storage.pool, records)
      for (const { id, reason } of rejected) {
        log.error({ id, reason }, 'a usage record was refused by the database and left out')
      }
    },
  })
  return { drain, openFor }
}

function toEnd({ json }: RecordLine): Parameters<Ledger['settleFormer']>[0][number] {
  const record = JSON.parse(json) as RequestRecord
  return { id: record.id, orgId: record.org_id, used: toUsed(record) }
}
