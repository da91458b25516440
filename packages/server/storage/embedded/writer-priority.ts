import { getPriority, setPriority } from 'node:os'
import type { Pool, PoolClient } from 'pg'
import { mayRaise, readSessionNice, setSessionNice } from './server-priority.ts'

/** Linux lets a process with this value run once all others of its processor wait. */
const LAST_NICE = 19
/**
 * That of a gateway. With 5 and a gateway that never rests, each message waits until Linux gives the process its turn, and a batch has
 * dozens: it stored a ninth of the records.
 */
const WAITED_FOR_NICE = 0
const EVERY_MS = 100

/**
 * Keeps the server's process that writes records from interrupting gateways. Each piece of rows wakes it up, and with a higher
 * priority Linux would often let it run at once, for up to 4 ms of the tick of a gateway. While something waits for the records, it has the
 * priority of a gateway, so that they never fall behind for good.
 */
export class WriterPriority {
  readonly #isWaitedFor: () => boolean
  readonly #timer: NodeJS.Timeout
  #pid: number | undefined

  /** `pool` has a single connection, over which nothing but records is written. */
  constructor(pool: Pool, isWaitedFor: () => boolean) {
    this.#isWaitedFor = isWaitedFor
    pool.on('connect', client => {
      this.#pid = pidOf(client)
    })
    // Another process may get its id.
    pool.on('remove', client => {
      if (this.#pid === pidOf(client)) this.#pid = undefined
    })
    this.#timer = setInterval(() => this.#set(), EVERY_MS)
    this.#timer.unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #set(): void {
    const nice = this.#isWaitedFor() ? WAITED_FOR_NICE : LAST_NICE
    if (this.#pid === undefined) return
    try {
      // What the process has is read each time, since all processes of the server are lowered soon after they start.
      if (mayRaise && getPriority(this.#pid) !== nice) setPriority(this.#pid, nice)
      if (readSessionNice(this.#pid) !== nice) setSessionNice(this.#pid, nice)
    } catch {
      // The process has ended, the system has no such values, or another user than root changed more than ten in this second. The
      // next look tries again.
    }
  }
}

/** pg's client knows it once it is connected, its types do not. */
function pidOf(client: PoolClient): number | undefined {
  return (client as { processID?: number }).processID
}
