import { systemClock } from '../../core/clock.ts'
import type { JournalReplays, JournalReplaysOptions } from '../../journal/journal-replays.ts'
import type { WorkerProcess } from '../../workers/processes/worker-process.ts'
import type { AppParts } from '../parts/app-parts.ts'
import {
  lowerWriter,
  openInserts,
  openReplays,
  type RecordBarrier,
  type RecordCounts,
} from '../parts/records.ts'
import { toWorkerFolder } from '../parts/worker-folder.ts'

type Writer = Pick<WorkerProcess, 'name' | 'pid' | 'hasPort'>

/**
 * The journals of all workers, seen from their supervisor. A worker drains its own; the supervisor replays those of workers
 * that have ended, and what a process without workers has left.
 */
export class WorkerJournals implements RecordBarrier {
  /** The counts of the records that this process stored. */
  readonly recordCounts: Pick<RecordCounts, 'reduced' | 'setAside'>
  readonly #writers = new Set<Writer>()
  readonly #replays: JournalReplays
  readonly #flushWorkers: () => Promise<ReadonlySet<string>>

  /** `flushWorkers` returns the names of the workers that have flushed their journals. */
  constructor(
    parts: AppParts,
    onReplayed: JournalReplaysOptions['onReplayed'],
    flushWorkers: () => Promise<ReadonlySet<string>>,
  ) {
    const { config, log, storage, exceptions, closers } = parts
    const { dataDir } = config
    const { insert, reduced, setAside } = openInserts({ dataDir, now: systemClock.now, log, storage })
    this.recordCounts = { reduced, setAside }
    lowerWriter({ storage, closers }, () => this.#replays.isReplaying)
    this.#replays = openReplays({ dataDir, log, onException: exceptions.note, closers }, insert, onReplayed)
    this.#flushWorkers = flushWorkers
    void this.#replays.replay('.')
    this.#replays.replayAll()
  }

  noteStarted(worker: Writer): void {
    this.#writers.add(worker)
  }

  /** Replays what the worker left. Resolves once it is stored and settled, or the program closes. */
  async noteEnded(worker: Writer): Promise<void> {
    this.#writers.delete(worker)
    if (worker.pid !== undefined) await this.#replays.replay(toWorkerFolder(worker.pid, worker.name))
  }

  /** Resolves once every record that a worker had written at the call is in the database. */
  async flush(): Promise<void> {
    const writers = [...this.#writers].filter(({ hasPort }) => hasPort)
    const flushed = await this.#flushWorkers()
    for (const writer of writers) {
      // One that has ended since is replayed.
      if (!flushed.has(writer.name) && this.#writers.has(writer)) {
        throw new Error(`the gateway worker ${writer.pid} has not written its records`)
      }
    }
    await this.#replays.flush()
  }

  async afterFlush<T>(read: (missing: ReadonlySet<string>) => Promise<T>): Promise<T> {
    await this.flush()
    return await read(NONE)
  }
}

const NONE: ReadonlySet<string> = new Set()
