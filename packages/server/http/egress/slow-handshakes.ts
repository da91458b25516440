import { FairCache } from '../../core/admission/fair-cache.ts'
import { type Clock, systemClock } from '../../core/clock.ts'
import { type LookupOwner, toCallerKey, toHolder } from '../names/lookup-slots.ts'

/** Of the event loop, for what arrived at once. Usual handshakes take 1 to 3 ms, and a pause of the garbage collector 15. */
const SLOW_MS = 25
const BARRED_MS = 600_000
const MAX_OF_HOST = 2
const MAX_OF_END_USER = 2
const MAX_OF_ORGANIZATION = 8
const MAX_PARTIES = 20_000

/** Starts measuring; the returned function returns the milliseconds since. */
export type Stopwatch = () => () => number

/** Whether one handshake may go on, and what becomes of the time that it took. */
export interface HandshakeWatch {
  mayContinue(): boolean
  note(milliseconds: number): void
  readonly start: Stopwatch
}

interface SlowCount {
  count: number
  /** Milliseconds of the clock, until which it counts. */
  readonly until: number
}

interface SlowHandshakesOptions {
  readonly clock?: Clock
  readonly stopwatch?: Stopwatch
}

/**
 * Remembers which TLS handshakes that failed blocked the event loop. Within ten minutes of the first one a host may cause two, an end user
 * two with whatever hosts, and an organization eight; then connections to that host, or of that party, are refused.
 */
export class SlowHandshakes {
  readonly #clock: Clock
  readonly #stopwatch: Stopwatch
  readonly #counts = new FairCache<SlowCount>(MAX_PARTIES)
  /** Apart, so that an organization with many hosts and end users keeps its own count. */
  readonly #organizations = new FairCache<SlowCount>(MAX_PARTIES)

  constructor({ clock = systemClock, stopwatch = startStopwatch }: SlowHandshakesOptions = {}) {
    this.#clock = clock
    this.#stopwatch = stopwatch
  }

  /** `host`: its name or address with the port, as another port may belong to somebody else. */
  watch(owner: LookupOwner, host: string): HandshakeWatch {
    const organization = toHolder(owner)
    const hostKey = `host ${host}`
    const userKey = owner.endUser === undefined ? undefined : `user ${toCallerKey(owner)}`
    return {
      start: this.#stopwatch,
      mayContinue: () =>
        this.#isBelow(this.#counts, hostKey, MAX_OF_HOST) &&
        (userKey === undefined || this.#isBelow(this.#counts, userKey, MAX_OF_END_USER)) &&
        this.#isBelow(this.#organizations, organization, MAX_OF_ORGANIZATION),
      note: milliseconds => {
        if (milliseconds < SLOW_MS) return
        this.#add(this.#counts, organization, hostKey)
        if (userKey !== undefined) this.#add(this.#counts, organization, userKey)
        this.#add(this.#organizations, organization, organization)
      },
    }
  }

  #isBelow(counts: FairCache<SlowCount>, key: string, max: number): boolean {
    const entry = counts.find(key)
    return entry === undefined || entry.count < max || entry.until <= this.#clock.now()
  }

  #add(counts: FairCache<SlowCount>, organization: string, key: string): void {
    const entry = counts.use(organization, key)
    if (entry !== undefined && entry.until > this.#clock.now()) entry.count++
    else counts.set(organization, key, { count: 1, until: this.#clock.now() + BARRED_MS })
  }
}

/** Measures what blocked the event loop: not the time in which other processes ran, nor that of other threads. */
function startStopwatch(): () => number {
  const startedAt = performance.now()
  const cpu = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(cpu)
    return Math.min(performance.now() - startedAt, (user + system) / 1000)
  }
}
