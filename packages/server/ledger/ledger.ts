import type { Meter, MeterSubject, Seed } from '../core/meter.ts'

/** What a request may still use, or what it used. Whole numbers, never negative. */
export interface Amounts {
  readonly tokens: number
  readonly nanoUsd: number
}

export interface AdmitRequest {
  /** The gateway's own id of the request: never one that a caller chose. */
  readonly id: string
  /** Unix milliseconds, by the gateway's clock. Meters of calendar windows were made for this instant. */
  readonly at: number
  /** Every counter that concerns it; may be empty. */
  readonly meters: readonly Meter[]
  /** Whose request it is, so that a counter that is made while it runs learns of it too. All but endUserId are set. */
  readonly subject: MeterSubject
  /** The hold. Besides it, a request holds 1 of each meter of `requests` and `in_flight`. */
  readonly hold: Amounts
  /** How long the hold lives unless it is extended. */
  readonly leaseMs: number
}

/** How a meter stands. */
export interface Standing {
  readonly meter: Meter
  /** Used by requests that have ended. Of a rolling meter: of those, what still counts now. */
  readonly settled: number
  /** Of requests that are running. */
  readonly held: number
  /**
   * Unix milliseconds: when the window ends; of a rolling meter, when the oldest that counts will not count any more.
   * null: never, or nothing counts.
   */
  readonly resetAt: number | null
}

export interface Refused extends Standing {
  /** What the request would have added. */
  readonly wanted: number
  /**
   * Unix milliseconds from which on the same request is admitted if nothing else comes meanwhile and nothing that runs
   * gives back. null: no instant is known (`in_flight`), or none will come (a total; a hold above the limit itself).
   */
  readonly retryAt: number | null
}

export type Verdict =
  /** In the order of the meters, the hold counted in. */
  | { readonly isAdmitted: true; readonly standings: readonly Standing[] }
  /** The meter that says no; of several, the one that is longest to wait for. Nothing is held anywhere. */
  | { readonly isAdmitted: false; readonly refused: Refused }
  /** The counters cannot be reached or seeded, and limits that must hold do not let anything by unseen. */
  | { readonly isAdmitted: false; readonly unavailable: string }

/** What a request came to. */
export interface Used extends Amounts {
  /** 0: refused or failed before anything was generated; consumes no quota. A rate counts it all the same. */
  readonly requests: 0 | 1
  /** The sandbox answered: meters with `isRealOnly` get nothing of it. */
  readonly isSandbox: boolean
}

/** A request of a process that was killed, as its journal tells: what it came to, or is taken to have come to. */
export interface FormerEnd {
  readonly id: string
  readonly orgId: string
  readonly used: Used
}

/** What a meter has settled reached an amount of its `alertAt`, by a request or already when its counter was seeded. */
export interface Crossing {
  readonly meter: Meter
  readonly threshold: number
  readonly settled: number
}

/**
 * Admission and settlement over every limit, quota and budget that concerns a request at once. Two implementations:
 * in process, and on Redis or Valkey; one conformance suite (ledger-suite.ts).
 *
 * At every instant settled + held <= limit of every meter, as long as requests use no more than they hold; and no
 * request is refused while settled + held + its hold <= limit. What was used beyond a hold is counted too: spend is
 * never lowered.
 *
 * Answers are values where they are known at once, promises where something has to be asked: await only what is one.
 */
export interface Ledger {
  /** Names this process among those that share the counters. */
  readonly owner: string

  /**
   * Holds on all meters or on none. A second call with the id of a running hold is an error of ours and throws.
   * A meter whose counter is new is seeded first (see SeedSource); who comes meanwhile waits for it.
   */
  admit(request: AdmitRequest): Verdict | Promise<Verdict>

  /**
   * Makes the hold this large, on all meters or on none, and renews its lease: for a stream that goes on, or a fallback
   * that costs more. The same amounts renew only; smaller ones give back and never fail. Of a hold that was swept, what
   * it held is held again where it fits. The time of admission stays.
   */
  extend(id: string, hold: Amounts, at: number, leaseMs: number): Verdict | Promise<Verdict>

  /**
   * Turns the hold into what was used. Idempotent: only the first settle or release of an id counts, and one of an id
   * that is not known changes nothing. A hold that was swept is corrected by it. Never rejects.
   */
  settle(id: string, used: Used): void | Promise<void>

  /**
   * Settles what a killed process left, where counters that outlived it still hold it or took it for used as held; what
   * they know nothing of, or has ended there, changes nothing. After the usage ledger has it. Resolves when they were told,
   * however long that takes; never where this process ends before.
   */
  settleFormer(ended: readonly FormerEnd[]): Promise<void>

  /** Gives all of it back, also to the rates: nothing was asked of anybody. Idempotent as settle is. Never rejects. */
  release(id: string): void | Promise<void>

  /** How meters stand now, by a counter that is seeded if it is new. Undefined where the counters cannot be reached. */
  read(meters: readonly Meter[], at: number): Promise<readonly Standing[] | undefined>

  /**
   * Leases that ran out: their holds become used as held (an estimate, never less than nothing), and the request's own
   * settle corrects that when it still comes. Called by a clock. Gives how many.
   */
  sweep(at: number): number | Promise<number>

  /** Is counting as configured? The reasons are public: readiness names them. */
  health(): { readonly isWhole: boolean; readonly reasons: readonly string[] }

  close(): Promise<void>
}

/**
 * What was used before a counter existed: the usage ledger in PostgreSQL, behind which this process's journal is
 * drained first, also of what a killed run left there.
 */
export interface SeedSource {
  /**
   * One seed a meter, in their order. `onCut` is called once, in the turn in which it is certain what the answer holds:
   * everything that this process settled before the call, and of what it settled since then all but `missing`. Nothing
   * settled after that turn is in it. So whoever counts what settles between its call and its answer keeps, at the cut,
   * only the ids that are missing, and counts nothing twice. Of other processes it holds what they have drained.
   *
   * Requests of the ids in `without` are left out, drained or not: counters that processes share ask so, since they know
   * those by themselves, and what other processes drain meanwhile must not count twice. It can be some thousands.
   *
   * Meters of `in_flight` need no seed and are not asked for. Rejects where the database cannot be reached.
   */
  read(
    meters: readonly Meter[],
    at: number,
    onCut: (missing: ReadonlySet<string>) => void,
    without?: readonly string[],
  ): Promise<readonly Seed[]>
}

export interface LedgerOptions {
  readonly owner: string
  readonly seeds: SeedSource
  /** Called at most once a crossing by this process; whoever receives it makes it once a window. Never throws. */
  readonly onCrossing: (crossing: Crossing) => void
}
