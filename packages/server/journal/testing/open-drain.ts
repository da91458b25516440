import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { RecordLine, RequestRecord } from '../../core/records/request-record.ts'
import { Drain } from '../drain.ts'
import type { DrainOptions } from '../drain-options.ts'
import { type Journal, openJournal } from '../journal.ts'

export const silent = { error: () => {}, warn: () => {} }
/** Longer than any test, so that the drain writes only when it is flushed. */
export const NEVER_MS = 1_000_000_000

export function record(id: string): RequestRecord {
  return { id } as RequestRecord
}

/** A database that stores each record once and can be made unavailable. */
export function openTable() {
  const rows = new Map<string, RecordLine>()
  let broken = false
  return {
    rows,
    break: () => {
      broken = true
    },
    restore: () => {
      broken = false
    },
    async insert(records: readonly RecordLine[]) {
      if (broken) throw new Error('the database is unavailable')
      for (const each of records) rows.set(each.id, each)
    },
  }
}

export function openDrain(
  folder: string,
  table: ReturnType<typeof openTable>,
  maxQueued?: number,
  onReplayed?: DrainOptions['onReplayed'],
): { drain: Drain; journal: Journal } {
  const journal = openJournal(folder, { onError: () => {} })
  const drain = new Drain({
    folder,
    journal,
    insert: table.insert,
    log: silent,
    flushEveryMs: NEVER_MS,
    batchSize: 3,
    ...(maxQueued === undefined ? {} : { maxQueued }),
    ...(onReplayed === undefined ? {} : { onReplayed }),
  })
  return { drain, journal }
}

export function folderOf(): string {
  return mkdtempSync(path.join(tmpdir(), 'rideau-drain-'))
}
