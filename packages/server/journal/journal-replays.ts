import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { OnException } from '../core/on-exception.ts'
import { Drain } from './drain.ts'
import type { DrainOptions } from './drain-options.ts'
import { listSegments, openJournal } from './journal.ts'

export interface JournalReplaysOptions extends Pick<DrainOptions, 'insert' | 'log'> {
  /** The journal's folder. Each gateway worker has a folder of its own within it. */
  readonly folder: string
  /** Returns true if the process that writes a worker's folder still runs. */
  readonly isWritten: (name: string) => boolean
  /** Called with what a replay stored, before its journal is removed (DrainOptions), for one replay after another. */
  readonly onReplayed: NonNullable<DrainOptions['onReplayed']>
  readonly onException: OnException
}

/** How often a journal is tried again that its worker still writes, or that could not be read. */
const RETRY_MS = 500

interface Replay {
  /** undefined: the process that writes the journal still runs. */
  drain: Drain | undefined
  readonly done: Promise<void>
}

/**
 * Replays the journals of gateway workers that have ended: their records go to PostgreSQL, and requests that were cut off
 * count as their open lines say. A worker's folder is removed afterwards.
 */
export class JournalReplays {
  readonly #options: JournalReplaysOptions
  /** By the names of their folders. */
  readonly #running = new Map<string, Replay>()
  /** Ends with the last insert of a segment that runs or waits. */
  #inserts: Promise<unknown> = Promise.resolve()
  /** Ends with the last call of `onReplayed` that runs or waits. */
  #reports: Promise<unknown> = Promise.resolve()
  #isClosed = false
  #noteClosed: () => void = () => {}
  readonly #closed = new Promise<false>(resolve => {
    this.#noteClosed = () => resolve(false)
  })

  constructor(options: JournalReplaysOptions) {
    this.#options = options
    mkdirSync(options.folder, { recursive: true, mode: 0o700 })
  }

  /** True while records of a journal go to the database. */
  get isReplaying(): boolean {
    for (const { drain } of this.#running.values()) if (drain?.isBehind() === true) return true
    return false
  }

  /** Replays what the workers of earlier starts left. */
  replayAll(): void {
    for (const entry of readdirSync(this.#options.folder, { withFileTypes: true })) {
      if (entry.isDirectory()) void this.replay(entry.name)
    }
  }

  /**
   * Replays the folder of this name; `.` is the journal's own folder, which a process without workers writes. Resolves once
   * that is done, and never rejects.
   */
  replay(name: string): Promise<void> {
    const running = this.#running.get(name)
    if (running !== undefined) return running.done
    const replay: Replay = { drain: undefined, done: Promise.resolve().then(() => this.#run(name, replay)) }
    this.#running.set(name, replay)
    return replay.done
  }

  /** Resolves once the records of all replays are in the database. Rejects where that is impossible now. */
  async flush(): Promise<void> {
    const flushes = [...this.#running].map(async ([name, { drain }]) => {
      if (drain === undefined) throw new Error(`the journal ${name} is not replayed yet`)
      await drain.flush()
    })
    await Promise.all(flushes)
  }

  /** Ends the replays once more is stored or cannot be. The rest stays in the journals for the next start. */
  async close(): Promise<void> {
    this.#isClosed = true
    const replays = [...this.#running.values()]
    await Promise.all(replays.map(({ drain }) => drain?.flush().catch(() => {})))
    // What has just been stored is reported in the meantime.
    await new Promise<void>(resolve => setImmediate(resolve))
    this.#noteClosed()
    await Promise.all(replays.map(({ done }) => done))
  }

  async #run(name: string, replay: Replay): Promise<void> {
    const { isWritten, onException } = this.#options
    for (let isDone = false; !isDone && !this.#isClosed; ) {
      try {
        isDone = (name === '.' || !isWritten(name)) && (await this.#replayFolder(name, replay))
      } catch (error) {
        onException(error, 'the journal of a worker')
      }
      if (!isDone && !this.#isClosed)
        await new Promise<void>(resolve => setTimeout(resolve, RETRY_MS).unref())
    }
    this.#running.delete(name)
  }

  /**
   * Inserts one segment after another: those of many replays do not fit in memory together, and their inserts share a connection,
   * for which many would wait longer than its time-out.
   */
  #insertInTurn<T>(insert: () => Promise<T>): Promise<T> {
    const inserted = this.#inserts.then(insert)
    this.#inserts = inserted.catch(() => {})
    return inserted
  }

  /** Each segment is read again and kept in memory until it is settled. */
  #reportInTurn(records: Parameters<JournalReplaysOptions['onReplayed']>[0]): Promise<void> {
    const reported = this.#reports.then(() => this.#options.onReplayed(records))
    this.#reports = reported.catch(() => {})
    return reported
  }

  /** Returns true once everything is stored, and false if it was interrupted. */
  async #replayFolder(name: string, replay: Replay): Promise<boolean> {
    const { folder: parent, insert, log, onException } = this.#options
    const folder = path.join(parent, name)
    if (existsSync(folder) && listSegments(folder).length > 0) {
      const journal = openJournal(folder, { onError: error => onException(error, 'the journal of a worker') })
      let noteReplayed: (isStored: true) => void = () => {}
      const replayed = new Promise<true>(resolve => {
        noteReplayed = resolve
      })
      const drain = new Drain({
        folder,
        journal,
        insert,
        runAlone: work => this.#insertInTurn(work),
        log,
        onReplayed: async records => {
          await this.#reportInTurn(records)
          noteReplayed(true)
        },
      })
      replay.drain = drain
      // Its timer tries again.
      drain.flush().catch(() => {})
      const isStored = await Promise.race([replayed, this.#closed])
      await drain.close()
      if (!isStored) return false
    }
    if (name !== '.') rmSync(folder, { recursive: true, force: true })
    return true
  }
}
