import { readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import type { Pool, PoolClient } from 'pg'
import { LOWERED_NICE, setSessionNice } from './server-priority.ts'

/** Linux lets a process with this value run once all others of its processor wait. */
const LAST_NICE = 19
/** The bit of CAP_SYS_NICE in /proc/self/status (capabilities(7)). */
const CAP_SYS_NICE = 23n
const EVERY_MS = 100

/**
 * Keeps the server's process that writes records from interrupting gateways. Each piece of rows wakes it up, and with the value of
 * the other processes Linux would often let it run at once, for up to 4 ms of the tick of a gateway. While something waits for the
 * records, it has the value of the others, so that they never fall behind for good.
 */
export class WriterPriority {
  readonly #isWaitedFor: () => boolean
  readonly #mayRaise = hasCapability(CAP_SYS_NICE)
  readonly #timer: NodeJS.Timeout
  #pid: number | undefined
  /** The value that the process has; undefined: it is not known. */
  #nice: number | undefined

  /** `pool` has a single connection, over which nothing but records is written. */
  constructor(pool: Pool, isWaitedFor: () => boolean) {
    this.#isWaitedFor = isWaitedFor
    pool.on('connect', client => {
      this.#pid = pidOf(client)
      this.#nice = undefined
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
    const nice = this.#isWaitedFor() ? LOWERED_NICE : LAST_NICE
    if (this.#pid === undefined || nice === this.#nice) return
    try {
      // Whoever may not raise a process again leaves it as it is: only the session's value, which anyone may raise, changes.
      if (this.#mayRaise) setPriority(this.#pid, nice)
      setSessionNice(this.#pid, nice)
      this.#nice = nice
    } catch (error) {
      // Linux lets other users than root change ten a second, so the next look tries again. Any other failure: the process has ended,
      // or the system has no such values.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') this.#nice = nice
    }
  }
}

/** pg's client knows it once it is connected, its types do not. */
function pidOf(client: PoolClient): number | undefined {
  return (client as { processID?: number }).processID
}

function hasCapability(bit: bigint): boolean {
  try {
    const [, bits = '0'] = /^CapEff:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? []
    return ((BigInt(`0x${bits}`) >> bit) & 1n) === 1n
  } catch {
    return false
  }
}
