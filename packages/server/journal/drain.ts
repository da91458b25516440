import { existsSync, rmSync } from 'node:fs'
import type { RequestRecord } from '../core/request-record.ts'
import { type Journal, listSegments, segmentPath } from './journal.ts'
import { readSegment } from './read-segment.ts'

/**
 * Carries records from the journal to PostgreSQL behind the request path. What was written this run waits in memory;
 * what a killed run left, or what did not fit, is read back from the segments. Inserting is idempotent, so a record
 * that travels twice counts once. A segment is removed only after all of it is in the database.
 */
export interface Drain {
  /** Journals the record and queues it. Returns after the kernel has it. */
  write(record: RequestRecord): void
  /** Resolves when everything written so far is in the database, or rejects with the database's error. */
  flush(): Promise<void>
  /** Records not yet in the database, as far as memory knows. */
  backlog(): number
  close(): Promise<void>
}

export interface DrainOptions {
  readonly folder: string
  readonly journal: Journal
  /** Idempotent. Rejects only where the database is at fault; a record that it can never take is left out. */
  readonly insert: (records: readonly RequestRecord[]) => Promise<void>
  readonly log: {
    error(details: object, message: string): void
    warn(details: object, message: string): void
  }
  readonly flushEveryMs?: number
  readonly batchSize?: number
  /** Records held in memory at most; above it they wait in the segments alone. */
  readonly maxQueued?: number
}

export function openDrain(options: DrainOptions): Drain {
  const { folder, journal, insert, log, flushEveryMs = 200, batchSize = 500, maxQueued = 20_000 } = options
  let queue: RequestRecord[] = []
  /** Segments below this one are not written any more. */
  let current = journal.current()
  /** Segments with records that are in no queue: left by a killed run, or written while the queue was full. */
  let unread = listSegments(folder).filter(sequence => sequence < current)
  let overflowed = false
  let running: Promise<void> | undefined

  const timer = setInterval(() => {
    if (queue.length > 0 || unread.length > 0 || overflowed) drain().catch(() => {})
  }, flushEveryMs)
  timer.unref()

  function write(record: RequestRecord): void {
    try {
      current = journal.append(JSON.stringify(record))
    } catch (error) {
      // The answer is already paid for: keep the record in memory and say loudly that a kill would lose it.
      log.error({ err: error }, 'the journal refused a record; it waits in memory only')
      queue.push(record)
      return
    }
    if (queue.length < maxQueued) queue.push(record)
    else overflowed = true
  }

  function drain(): Promise<void> {
    running ??= drainAll().finally(() => {
      running = undefined
    })
    return running
  }

  async function drainAll(): Promise<void> {
    try {
      while (queue.length > 0 || unread.length > 0 || overflowed) {
        if (queue.length > 0) await drainQueue()
        else await drainSegments()
      }
      removeWritten()
    } catch (error) {
      log.error(
        { err: error, backlog: queue.length },
        'usage records could not be written; they wait in the journal',
      )
      throw error
    }
  }

  async function drainQueue(): Promise<void> {
    const batch = queue.slice(0, batchSize)
    await insert(batch)
    queue = queue.slice(batch.length)
  }

  async function drainSegments(): Promise<void> {
    if (overflowed) {
      overflowed = false
      current = journal.rotate()
      unread = listSegments(folder).filter(sequence => sequence < current)
    }
    for (const sequence of unread) {
      const file = segmentPath(folder, sequence)
      if (!existsSync(file)) continue
      const { records, badLines } = readSegment(file)
      if (badLines > 0) log.warn({ file, badLines }, 'the journal has damaged lines; they were left out')
      for (let at = 0; at < records.length; at += batchSize) {
        await insert(records.slice(at, at + batchSize).map(json => JSON.parse(json) as RequestRecord))
      }
      rmSync(file, { force: true })
    }
    unread = []
  }

  /** With nothing queued or unread, every segment but the current one is in the database. */
  function removeWritten(): void {
    for (const sequence of listSegments(folder)) {
      if (sequence < current) rmSync(segmentPath(folder, sequence), { force: true })
    }
  }

  return {
    write,
    flush: drain,
    backlog: () => queue.length,
    async close() {
      clearInterval(timer)
      await drain().catch(() => {})
      const whole = queue.length === 0 && unread.length === 0 && !overflowed
      journal.close()
      if (whole)
        for (const sequence of listSegments(folder)) rmSync(segmentPath(folder, sequence), { force: true })
    },
  }
}
