/** Failures and successes older than this no longer count. */
export const WINDOW_MS = 10_000
/** The window moves in steps of this. */
const SLOT_MS = 1_000
const SLOTS = WINDOW_MS / SLOT_MS
/** Fewer calls in the window never open a circuit. */
export const MIN_CALLS = 10
/** The share of failed calls from which a circuit opens. */
const MAX_FAILURE_RATE = 0.5
/** How long an open circuit waits for its next probe, after each failed one longer. */
const BACKOFF_MS = [1_000, 2_000, 4_000, 5_000] as const
/** The longest wait for a probe. With the lease of a probe it bounds how long a recovered target stays unused. */
export const MAX_BACKOFF_MS = 5_000
/** A probe without a result after this time no longer prevents another one. */
export const PROBE_LEASE_MS = 5_000
/** A circuit that opens again so soon after it closed goes on with the longer waits. */
const RELAPSE_MS = 10_000
/** The longest rest of a credential. */
const MAX_REST_MS = 60_000
/** How many failures that a request may have caused count for each end user in a window. */
const MAX_FAILURES_PER_SOURCE = 3
const MAX_DOUBTFUL = 48
/** The number of end users with such failures that shows that the target fails, even if other end users succeed. */
const MANY_SOURCES = 16

/** What names a circuit. */
export interface CircuitName {
  /** Whose credential it is. */
  readonly orgId: string
  readonly credentialId: string
  readonly provider: string
  readonly model: string
}

/** What may be done with a circuit's target: call it, call it once as a probe, or leave it alone. */
export type Admission = 'admitted' | 'probe' | 'open' | 'resting'
/** What a call's outcome changed. */
export type Transition = 'opened' | 'reopened' | 'closed' | undefined

/**
 * The circuit of one model with one credential. It opens when too many calls in the window fail, lets one probe through
 * at a time, and closes when a call succeeds. All times are arguments, in Unix milliseconds.
 */
export class Circuit implements CircuitName {
  readonly orgId: string
  readonly credentialId: string
  readonly provider: string
  readonly model: string
  isOpen = false
  openedAt = 0
  /** When the next probe is due. */
  retryAt = 0
  /** The end of the rest, before which other credentials are called first. */
  restUntil = 0
  /** The `updatedAt` of the credential that rests: one that was changed since does not. */
  #restOf = 0
  /** The end user at whose request the provider refused the credential, with no success since. undefined: none. */
  #refusedFor: string | undefined
  /** The share of failures in the window when the circuit last opened, from 0 to 1. */
  failureRate = 0
  /** When it was last used. */
  usedAt: number
  #probeUntil = 0
  #closedAt = Number.NEGATIVE_INFINITY
  #backoff = 0
  /** Calls and failures of each slot, one after the other. */
  readonly #slots = new Uint32Array(2 * SLOTS)
  #slot = 0
  /** End users whose failures count in the window, an entry for each failure. undefined: none so far. */
  #sources: EndUserFailure[] | undefined
  /** End users that failed none of late, but had a success. Kept while others fail. undefined: none so far. */
  #healthy: EndUserFailure[] | undefined

  constructor(of: CircuitName, now: number) {
    this.orgId = of.orgId
    this.credentialId = of.credentialId
    this.provider = of.provider
    this.model = of.model
    this.usedAt = now
  }

  /** `updatedAt`: of the credential, as the request knows it. */
  admission(now: number, updatedAt = 0): Admission {
    if (this.isOpen) return isDue(this.retryAt, now) && isDue(this.#probeUntil, now) ? 'probe' : 'open'
    return this.#isResting(now) && updatedAt <= this.#restOf ? 'resting' : 'admitted'
  }

  /** When the target may be called again; 0: now. */
  blockedUntil(): number {
    return this.isOpen ? Math.max(this.retryAt, this.#probeUntil) : this.restUntil
  }

  startProbe(now: number): void {
    this.#probeUntil = now + PROBE_LEASE_MS
  }

  /** Ends a probe whose call says nothing about the target, so that another one may start. */
  releaseProbe(): void {
    this.#probeUntil = 0
  }

  /**
   * `isLate`: the call began before the circuit opened, so it does not show that the target has recovered. `source`: the end
   * user whose request it was; undefined: no particular one.
   */
  noteSuccess(now: number, isLate: boolean, source?: string): Transition {
    this.usedAt = now
    this.#count(now, 0)
    this.#refusedFor = undefined
    if (this.#sources !== undefined) this.#noteHealthy(source ?? '', now)
    if (isLate) return undefined
    this.restUntil = 0
    if (!this.isOpen) return undefined
    this.close(now)
    return 'closed'
  }

  /**
   * Counts a failure of the target. `source`: the end user whose request may have caused it; undefined: no request can
   * have. Such an end user's failures above MAX_FAILURES_PER_SOURCE are not counted.
   */
  noteFailure(now: number, source: string | undefined, isProbe: boolean): Transition {
    this.usedAt = now
    if (this.isOpen) {
      if (!isProbe) return undefined
      this.#backoff++
      this.#wait(now)
      return 'reopened'
    }
    if (source !== undefined && !this.#mayCount(source, now)) return undefined
    this.#count(now, 1)
    const { calls, failures } = this.#sum()
    if (calls < MIN_CALLS || failures < calls * MAX_FAILURE_RATE) return undefined
    if (!this.#isWidespread(now, calls, failures)) return undefined
    this.failureRate = failures / calls
    this.openedAt = now
    this.#backoff = now - this.#closedAt < RELAPSE_MS ? this.#backoff + 1 : 0
    this.#wait(now)
    return 'opened'
  }

  /**
   * Returns whether a refusal of the credential that a request may have caused is shown by others too: the environment's own
   * requests count at once, those of end users once two of them were refused with no success between.
   */
  confirmsRefusal(source: string | undefined): boolean {
    if (source === undefined) return true
    const before = this.#refusedFor
    this.#refusedFor = source
    return before !== undefined && before !== source
  }

  /**
   * Lets the credential rest, unless it rests for longer already. `updatedAt`: of the credential that was called. Returns the
   * milliseconds.
   */
  rest(now: number, ms: number, updatedAt = 0): number {
    const bounded = Math.min(Math.max(ms, 0), MAX_REST_MS)
    this.usedAt = now
    const until = now + bounded
    const isLonger = this.#isResting(now) && this.restUntil > until
    if (updatedAt < this.#restOf || (updatedAt === this.#restOf && isLonger)) return bounded
    this.restUntil = until
    this.#restOf = updatedAt
    return bounded
  }

  /** Opens the circuit as another process did. `retryInMs`: until its next probe. */
  openAs(now: number, { retryInMs, openForMs, failureRate }: OpenState): void {
    // A failed probe of this process waits longer than the other process's.
    const step = BACKOFF_MS.findIndex(ms => ms >= retryInMs)
    this.#backoff = step < 0 ? BACKOFF_MS.length - 1 : step
    this.isOpen = true
    this.usedAt = now
    this.openedAt = now - Math.max(0, openForMs)
    this.failureRate = failureRate
    this.retryAt = now + Math.min(Math.max(0, retryInMs), MAX_BACKOFF_MS)
    this.#probeUntil = 0
  }

  close(now: number): void {
    this.isOpen = false
    this.#closedAt = now
    this.#probeUntil = 0
    this.restUntil = 0
    this.#sources = undefined
    this.#healthy = undefined
    this.#slots.fill(0)
  }

  /** A rest that ends later than any could was started before the clock was set back. */
  #isResting(now: number): boolean {
    return this.restUntil > now && this.restUntil - now <= MAX_REST_MS
  }

  #wait(now: number): void {
    this.isOpen = true
    this.#probeUntil = 0
    this.#backoff = Math.min(this.#backoff, BACKOFF_MS.length - 1)
    this.retryAt = now + (BACKOFF_MS[this.#backoff] as number)
  }

  #mayCount(source: string, now: number): boolean {
    const recent = (this.#sources ?? []).filter(({ at }) => now - at < WINDOW_MS)
    if (recent.filter(({ id }) => id === source).length >= MAX_FAILURES_PER_SOURCE) return false
    recent.push({ id: source, at: now })
    this.#sources = recent.slice(-MAX_DOUBTFUL)
    this.#healthy = this.#healthy?.filter(({ id }) => id !== source)
    return true
  }

  #noteHealthy(source: string, now: number): void {
    if (this.#sources?.some(({ id, at }) => id === source && now - at < WINDOW_MS)) return
    const others = (this.#healthy ?? []).filter(({ id, at }) => id !== source && now - at < WINDOW_MS)
    others.push({ id: source, at: now })
    this.#healthy = others.slice(-MANY_SOURCES)
  }

  /**
   * Returns false for failures that few end users may have caused: without theirs too few would fail, and at least as many
   * other end users have successes only.
   */
  #isWidespread(now: number, calls: number, failures: number): boolean {
    const doubtful = (this.#sources ?? []).filter(({ at }) => now - at < WINDOW_MS)
    if (failures - doubtful.length >= calls * MAX_FAILURE_RATE) return true
    const failing = new Set(doubtful.map(({ id }) => id)).size
    const healthy = (this.#healthy ?? []).filter(({ at }) => now - at < WINDOW_MS).length
    return failing > healthy || failing >= MANY_SOURCES
  }

  #count(now: number, failures: number): void {
    const slot = Math.floor(now / SLOT_MS)
    // A clock that was set back counts on in the newest slot, unless it was set back by more than the window.
    if (slot > this.#slot || slot < this.#slot - SLOTS) {
      if (slot - this.#slot >= SLOTS || slot < this.#slot) this.#slots.fill(0)
      else for (let passed = this.#slot + 1; passed <= slot; passed++) this.#clear(passed)
      this.#slot = slot
    }
    const at = 2 * (this.#slot % SLOTS)
    this.#slots[at] = (this.#slots[at] as number) + 1
    this.#slots[at + 1] = (this.#slots[at + 1] as number) + failures
  }

  #clear(slot: number): void {
    const at = 2 * (slot % SLOTS)
    this.#slots[at] = 0
    this.#slots[at + 1] = 0
  }

  #sum(): { calls: number; failures: number } {
    let calls = 0
    let failures = 0
    for (let at = 0; at < this.#slots.length; at += 2) {
      calls += this.#slots[at] as number
      failures += this.#slots[at + 1] as number
    }
    return { calls, failures }
  }
}

/** What an end user's request showed, in Unix milliseconds. */
interface EndUserFailure {
  readonly id: string
  readonly at: number
}

/** An open circuit as processes announce it to each other: durations, since their clocks may differ. */
export interface OpenState {
  readonly retryInMs: number
  readonly openForMs: number
  readonly failureRate: number
}

/** A time that is further away than any wait lies before a clock that was set back, so it is due. */
function isDue(at: number, now: number): boolean {
  return now >= at || at - now > MAX_BACKOFF_MS
}
