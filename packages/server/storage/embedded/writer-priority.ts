import { getPriority, setPriority } from 'node:os'
import type { Pool, PoolClient } from 'pg'
import { mayRaise, readSessionNice, setSessionNice } from './server-priority.ts'

/** Linux lets a process with this value run once all others of its processor wait. */
const LAST_NICE = 19
const EVERY_MS = 100

/**
 * Keeps the server's process that writes records from interrupting gateways. Each piece of rows wakes it up, and with a higher
 * priority Linux would often let it run at once, for up to 4 ms of the tick of a gateway. While something waits for the records, it has the
 * priority of this process, so that they never fall behind for good. With a value higher by 5, beside a gateway that uses the whole processor,
 * the database had a ninth of the time that records need: a batch is a dialogue of dozens of messages, for each of which its process waits to
 * be scheduled.
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
    const pid = this.#pid
    if (pid === undefined) return
    const isWaitedFor = this.#isWaitedFor()
    // What each has is read first, since all processes of the server are lowered soon after they start.
    attempt(() => {
      const nice = isWaitedFor ? readSessionNice(process.pid) : LAST_NICE
      if (readSessionNice(pid) !== nice) setSessionNice(pid, nice)
    })
    attempt(() => {
      const nice = isWaitedFor ? getPriority() : LAST_NICE
      if (mayRaise && getPriority(pid) !== nice) setPriority(pid, nice)
    })
  }
}

/**
 * The process may have ended, the system may have no such values, and it lets other users than root change ten in a second only.
 * The next look tries again.
 */
function attempt(change: () => void): void {
  try {
    change()
  } catch {
    // See above.
  }
}

/** pg's client knows it once it is connected, its types do not. */
function pidOf(client: PoolClient): number | undefined {
  return (client as { processID?: number }).processID
}
