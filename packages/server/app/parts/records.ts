import path from 'node:path'
import type { Logger } from 'pino'
import { toMeteredUsage } from '../../core/limits/metered-usage.ts'
import type { OnException } from '../../core/on-exception.ts'
import type { RecordLine, RequestRecord } from '../../core/records/request-record.ts'
import { ShortTicks } from '../../core/short-ticks.ts'
import { Drain } from '../../journal/drain.ts'
import { openJournal } from '../../journal/journal.ts'
import { JournalReplays, type JournalReplaysOptions } from '../../journal/journal-replays.ts'
import { openSetAside } from '../../journal/set-aside.ts'
import type { Ledger, RecoveredSettlement } from '../../ledger/ledger.ts'
import { WriterPriority } from '../../storage/embedded/writer-priority.ts'
import type { Storage } from '../../storage/open-storage.ts'
import { openPackedBatches } from '../../storage/records/packed-batch.ts'
import { insertRequestRecords } from '../../storage/records/request-logs.ts'
import { isWorkerRunning } from './worker-folder.ts'

/** The journal's folder within the data folder. */
export const JOURNAL = 'journal'

/** Counts of records that were not stored as they were, since the start. */
export interface RecordCounts {
  /** Records stored without their texts, because the database refused them at first. */
  reduced(): number
  /** Records kept in a file, because the database refuses them in any form. */
  setAside(): number
  /** Requests that cost nothing and left no record, because the journal was nearly full. */
  shed(): number
}

/** What of the journal is in the database, for reads that must not miss a record. */
export type RecordBarrier = Pick<Drain, 'flush' | 'afterFlush'>

export interface Records {
  readonly drain: Drain
  /** Covers the records of the drain and those that earlier workers left. */
  readonly stored: RecordBarrier
  readonly recordCounts: RecordCounts
  /** Sets the ledger that settles the requests of a killed run, whose reservations shared counters still contain. */
  openFor(ledger: Ledger): void
}

export interface RecordsParts {
  /** Contains the journal's folder and the files of records that the database refuses. */
  readonly dataDir: string
  /** The folder of this worker within the journal's; absent: a process without workers. */
  readonly workerFolder?: string
  readonly now: () => number
  readonly maxBytes: number
  /** The counters of limits are shared with other processes. */
  readonly isShared: boolean
  readonly log: Logger
  readonly storage: Storage
  readonly onException: OnException
  readonly closers: (() => Promise<void> | void)[]
}

/** Opens the journal of this process and the drain that writes it to the database. */
export function openRecords(parts: RecordsParts): Records {
  const { dataDir, workerFolder, maxBytes, isShared, log, closers } = parts
  const folder = path.join(dataDir, JOURNAL, workerFolder ?? '.')
  const { insert, reduced, setAside } = openInserts(parts)
  const journal = openJournal(folder, {
    onError: error => log.error({ err: error }, 'a file of the journal could not be synced or removed'),
  })
  let openFor: (ledger: Ledger) => void = () => {}
  const opened = new Promise<Ledger>(resolve => {
    openFor = resolve
  })
  const onReplayed: JournalReplaysOptions['onReplayed'] = async records => settleAll(await opened, records)
  const drain = new Drain({
    folder,
    journal,
    maxBytes,
    log,
    // The counters of a single process end with it, so there is nothing to settle.
    ...(isShared ? { onReplayed } : {}),
    insert,
    openBatch: openPackedBatches({ pool: parts.storage.recordPool, insertLines: insert }),
  })
  let isReplaying = (): boolean => false
  lowerWriter(parts, () => drain.isBehind() || isReplaying())
  closers.push(() => drain.close())
  const recordCounts = { reduced, setAside, shed: () => drain.shed() }
  if (workerFolder !== undefined) return { drain, stored: drain, recordCounts, openFor }
  const replays = openReplays(parts, insert, onReplayed)
  isReplaying = () => replays.isReplaying
  replays.replayAll()
  const stored: RecordBarrier = {
    async flush() {
      await replays.flush()
      await drain.flush()
    },
    async afterFlush(read, signal) {
      await replays.flush()
      return await drain.afterFlush(read, signal)
    },
  }
  return { drain, stored, recordCounts, openFor }
}

/**
 * Lets the embedded server's process that writes records come last until `isWaitedFor`. Call it before what writes them is opened:
 * what is opened first is closed last, and the last records are waited for.
 */
export function lowerWriter(
  { storage, closers }: Pick<RecordsParts, 'storage' | 'closers'>,
  isWaitedFor: () => boolean,
): void {
  if (typeof storage.connection === 'string' || process.platform !== 'linux') return
  const priority = new WriterPriority(storage.recordPool, isWaitedFor)
  closers.push(() => priority.close())
}

/** Opens the replays of what gateway workers left. */
export function openReplays(
  { dataDir, log, onException, closers }: Pick<RecordsParts, 'dataDir' | 'log' | 'onException' | 'closers'>,
  insert: JournalReplaysOptions['insert'],
  onReplayed: JournalReplaysOptions['onReplayed'],
): JournalReplays {
  const folder = path.join(dataDir, JOURNAL)
  const replays = new JournalReplays({
    folder,
    isWritten: isWorkerRunning,
    insert,
    log,
    onException,
    onReplayed,
  })
  closers.push(() => replays.close())
  return replays
}

/** Returns what writes records to the database, and counts of those that it did not take as they were. */
export function openInserts({
  dataDir,
  now,
  log,
  storage,
}: Pick<RecordsParts, 'dataDir' | 'now' | 'log' | 'storage'>): {
  readonly insert: (records: readonly RecordLine[]) => Promise<void>
  readonly reduced: () => number
  readonly setAside: () => number
} {
  const setAside = openSetAside(dataDir, { now })
  let reduced = 0
  const insert = async (records: readonly RecordLine[]): Promise<void> => {
    const { rejected } = await insertRequestRecords(storage.recordPool, records, (id, reason) => {
      reduced++
      log.error({ id, reason }, 'a usage record was refused by the database and stored without its texts')
    })
    if (rejected.length === 0) return
    // Written before the journal removes the segment. If this throws, the batch is inserted again.
    setAside.append(rejected)
    for (const { id, reason } of rejected) {
      log.error({ id, reason }, 'a usage record was refused by the database and set aside in a file')
    }
  }
  return { insert, reduced: () => reduced, setAside: () => setAside.count() }
}

/** Settles the records of a killed process, the next ones when the ledger has those before. */
export async function settleAll(
  ledger: Ledger,
  records: AsyncIterable<readonly RecordLine[]>,
): Promise<void> {
  for await (const lines of records) await ledger.settleRecovered(await toSettlements(lines))
}

async function toSettlements(lines: readonly RecordLine[]): Promise<RecoveredSettlement[]> {
  const settlements: RecoveredSettlement[] = []
  const ticks = new ShortTicks()
  for (const line of lines) {
    if (ticks.isOver) await ticks.next()
    if (line.id !== '') settlements.push(toSettlement(line))
  }
  return settlements
}

function toSettlement({ json }: RecordLine): RecoveredSettlement {
  const record = JSON.parse(json) as RequestRecord
  return { id: record.id, orgId: record.org_id, usage: toMeteredUsage(record) }
}
