import type { Meter, MeterSubject } from '../../core/meter.ts'
import { amountOf } from '../amounts.ts'
import type {
  AdmitRequest,
  Amounts,
  FormerEnd,
  Ledger,
  LedgerOptions,
  Standing,
  Used,
  Verdict,
} from '../ledger.ts'
import { FormerEnds } from './former-ends.ts'
import { Link, type LinkOptions } from './link.ts'
import { codeOf, grainOf, holdsOf, subjectArgs, windowOf } from './meter-args.ts'
import { Seeder } from './seeder.ts'
import type { Reply } from './turn.ts'
import { Turns } from './turns.ts'
import { growthOf, toRefusal, toStandings } from './verdicts.ts'

export interface RedisLedgerOptions
  extends LedgerOptions,
    Pick<
      LinkOptions,
      'url' | 'log' | 'countProcesses' | 'drain' | 'graceMs' | 'heartbeatMs' | 'commandTimeoutMs'
    > {
  /** Unix milliseconds. */
  readonly now: () => number
  /** What is held may grow though the server cannot be asked (RIDEAU_LIMITS_FAILOPEN). */
  readonly isFailOpen?: boolean
  /** For tests: time is what the calls say, not what the server's clock says. */
  readonly isTimeGiven?: boolean
}

/** What this process holds, as it would tell it to a server that has lost it. */
interface Hold {
  readonly id: string
  readonly subject: MeterSubject
  readonly at: number
  readonly meters: readonly Meter[]
  /** By the server's clock. */
  readonly admittedAt: number
  /** Where the server knows of it; undefined: nowhere yet, since this process admitted it without asking. */
  run: string | undefined
  amounts: Amounts
  leaseMs: number
  /** As the server last told. */
  standings: readonly Standing[]
}

/** An ending that the server was not told yet. */
interface Owed {
  readonly run: string
  readonly tell: () => Promise<unknown>
}

const ADMITTED = 1
const MISSING = 2
const RUNNING = 3
const ENDED = 4
/** A counter may go while others are seeded; more often than this it is a fault. */
const ROUNDS = 5
/** Organizations whose leases are looked at though nothing of theirs comes any more. Milliseconds. */
const WATCHED_MS = 7_200_000

/**
 * The ledger of several processes: every decision is one script on Redis or Valkey, one round trip. While the server
 * cannot be believed (see Link) everything is `unavailable`; nobody waits for longer than one command's timeout.
 */
export class RedisLedger implements Ledger {
  readonly owner: string
  readonly #options: RedisLedgerOptions
  readonly #link: Link
  readonly #turns: Turns
  readonly #seeder: Seeder
  readonly #holds = new Map<string, Hold>()
  readonly #owed = new Map<string, Owed>()
  readonly #formerEnds = new FormerEnds(each => this.#tellFormer(each))
  /** When each organization's last request came. */
  readonly #orgs = new Map<string, number>()
  /** The time that the last call gave, where time is given. */
  #given = 0

  constructor(options: RedisLedgerOptions) {
    this.owner = options.owner
    this.#options = options
    this.#link = new Link({
      ...options,
      restore: run => this.#restore(run),
      onOpen: () => {
        for (const id of this.#owed.keys()) void this.#pay(id)
        this.#formerEnds.tell()
      },
    })
    const time = (): string | number => this.#time()
    this.#turns = new Turns({ commands: this.#link.commands, owner: options.owner, time })
    this.#seeder = new Seeder({
      link: this.#link,
      seeds: options.seeds,
      onCrossing: options.onCrossing,
      time,
    })
  }

  async admit(request: AdmitRequest): Promise<Verdict> {
    const { id, at, meters, subject, hold, leaseMs } = request
    if (this.#holds.has(id)) throw new Error('a request is admitted once')
    this.#given = at
    this.#orgs.set(subject.orgId, at)
    for (let round = 0; round < ROUNDS; round++) {
      const { run } = this.#link
      if (run === undefined) return this.#unavailable()
      const holds = holdsOf(run, subject.orgId)
      let reply: Reply
      try {
        reply = await this.#turns.admit(holds, request)
      } catch (error) {
        // It may still run: what it would hold is given back as soon as the server hears us.
        this.#tell(id, run, () => this.#turns.release(holds, id))
        this.#link.lose((error as Error).message)
        return this.#unavailable()
      }
      const { now, values } = reply
      const [outcome] = values
      if (outcome === ADMITTED) {
        const standings = toStandings(meters, values, this.#shift(now))
        const mine = { id, subject, at, meters, admittedAt: now, run, amounts: hold, leaseMs, standings }
        this.#holds.set(id, mine)
        return { isAdmitted: true, standings }
      }
      if (outcome === RUNNING) throw new Error('a request is admitted once')
      if (outcome === ENDED) return { isAdmitted: false, unavailable: 'the request was given back before' }
      if (outcome !== MISSING) {
        return toRefusal(meters, values, meter => amountOf(meter.metric, hold), this.#shift(now))
      }
      const missing = values.slice(1).map(index => meters[index] as Meter)
      if (!(await this.#seeder.seed(run, missing, at))) return this.#unavailable()
    }
    return this.#unavailable()
  }

  async extend(id: string, amounts: Amounts, at: number, leaseMs: number): Promise<Verdict> {
    const hold = this.#holds.get(id)
    if (hold === undefined) return { isAdmitted: false, unavailable: 'the hold has ended' }
    this.#given = at
    const { run } = this.#link
    if (run === undefined || run !== hold.run) return this.#extendUnseen(hold, amounts, leaseMs)
    let reply: Reply
    try {
      const holds = holdsOf(run, hold.subject.orgId)
      reply = await this.#turns.extend(holds, id, amounts, leaseMs, hold.meters)
    } catch (error) {
      this.#link.lose((error as Error).message)
      return this.#extendUnseen(hold, amounts, leaseMs)
    }
    const { now, values } = reply
    const [outcome] = values
    if (outcome === ENDED) return { isAdmitted: false, unavailable: 'the hold has ended' }
    hold.leaseMs = leaseMs
    if (outcome !== ADMITTED) {
      const wanted = (meter: Meter): number => growthOf(meter, hold.amounts, amounts)
      return toRefusal(hold.meters, values, wanted, this.#shift(now))
    }
    hold.amounts = amounts
    hold.standings = toStandings(hold.meters, values, this.#shift(now))
    return { isAdmitted: true, standings: hold.standings }
  }

  /** A request that runs goes on while the server is away, on what it holds; this process remembers it for the server. */
  #extendUnseen(hold: Hold, amounts: Amounts, leaseMs: number): Verdict {
    const grows = hold.meters.some(meter => growthOf(meter, hold.amounts, amounts) > 0)
    if (grows && this.#options.isFailOpen !== true) return this.#unavailable()
    hold.leaseMs = leaseMs
    if (grows) hold.amounts = amounts
    return { isAdmitted: true, standings: hold.standings }
  }

  settle(id: string, used: Used): void | Promise<void> {
    const hold = this.#holds.get(id)
    if (hold === undefined) return
    this.#holds.delete(id)
    // A run that begins now is seeded with it; one that goes on has to learn of it.
    const run = hold.run ?? this.#link.former
    if (run === undefined) return
    const holds = holdsOf(run, hold.subject.orgId)
    const settle = (): Promise<void> =>
      this.#turns.settle(holds, id, used).then(({ values }) => this.#noteCrossings(hold, used, values))
    return this.#tell(id, run, () =>
      hold.run === undefined ? this.#restoreOne(hold, run).then(settle) : settle(),
    )
  }

  settleFormer(ended: readonly FormerEnd[]): Promise<void> {
    return this.#formerEnds.add(ended)
  }

  /** False: the server cannot be told now. */
  async #tellFormer({ id, orgId, used }: FormerEnd): Promise<boolean> {
    const { run } = this.#link
    if (run === undefined) return false
    try {
      await this.#turns.settle(holdsOf(run, orgId), id, used)
      return true
    } catch (error) {
      this.#link.lose((error as Error).message)
      return false
    }
  }

  release(id: string): void | Promise<void> {
    const hold = this.#holds.get(id)
    if (hold === undefined) return
    this.#holds.delete(id)
    const { run } = hold
    if (run === undefined) return
    return this.#tell(id, run, () => this.#turns.release(holdsOf(run, hold.subject.orgId), id))
  }

  /** A request that was admitted without the server: it is told as soon as it hears again, and holds whatever the limits. */
  adopt({ id, subject, at, meters, hold, leaseMs }: AdmitRequest, standings: readonly Standing[]): void {
    const amounts = hold
    const mine = { id, subject, at, meters, admittedAt: at, run: undefined, amounts, leaseMs, standings }
    this.#holds.set(id, mine)
    if (this.#link.run !== undefined) void this.#restoreOne(mine, this.#link.run).catch(() => {})
  }

  /** What an adopted request holds now. */
  adoptAmounts(id: string, amounts: Amounts): void {
    const hold = this.#holds.get(id)
    if (hold !== undefined) hold.amounts = amounts
  }

  async read(meters: readonly Meter[], at: number): Promise<readonly Standing[] | undefined> {
    const orgId = meters[0]?.subject.orgId
    if (orgId === undefined) return []
    this.#given = at
    const args = meters.flatMap(meter => [meter.key, codeOf(meter), windowOf(meter)])
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const { run } = this.#link
        if (run === undefined) return undefined
        const reply = await this.#link.commands.read(holdsOf(run, orgId), this.#time(), ...args)
        const [now, values = []] = reply
        if (values[0] === ADMITTED) return toStandings(meters, values, this.#shift(now))
        const missing = values.slice(1).map(index => meters[index] as Meter)
        if (!(await this.#seeder.seed(run, missing, at))) return undefined
      }
    } catch (error) {
      this.#link.lose((error as Error).message)
    }
    return undefined
  }

  async sweep(at: number): Promise<number> {
    this.#given = at
    let swept = 0
    for (const [orgId, seenAt] of this.#orgs) {
      const { run } = this.#link
      if (run === undefined) return swept
      if (seenAt + WATCHED_MS < at) this.#orgs.delete(orgId)
      try {
        swept += await this.#link.commands.sweep(holdsOf(run, orgId), this.#time())
      } catch (error) {
        this.#link.lose((error as Error).message)
      }
    }
    return swept
  }

  health(): { isWhole: boolean; reasons: readonly string[] } {
    return this.#link.run === undefined
      ? { isWhole: false, reasons: [this.#link.reason] }
      : { isWhole: true, reasons: [] }
  }

  /** Resolves when counting has begun, at the latest after `patienceMs`. */
  whenOpen(patienceMs: number): Promise<void> {
    return this.#link.whenOpen(patienceMs)
  }

  /** Requests that hold something now. */
  get holdCount(): number {
    return this.#holds.size
  }

  async close(): Promise<void> {
    await Promise.all([...this.#owed.keys()].map(id => this.#pay(id)))
    this.#link.close()
  }

  #unavailable(): Verdict {
    return { isAdmitted: false, unavailable: this.#link.reason }
  }

  /** Empty: the server's own clock, which all processes share. */
  #time(): string | number {
    return this.#options.isTimeGiven === true ? this.#given : ''
  }

  /** Taken after the answer came, so that what is told to wait is never too short. */
  #shift(serverNow: number): number {
    return this.#options.isTimeGiven === true ? 0 : this.#options.now() - serverNow
  }

  /** Tells the server of an ending, now or when it hears again. What ended under a run that is gone needs no telling. */
  #tell(id: string, run: string, tell: () => Promise<unknown>): Promise<void> {
    this.#owed.set(id, { run, tell })
    return this.#pay(id)
  }

  #pay(id: string): Promise<void> {
    const owed = this.#owed.get(id)
    const { run } = this.#link
    if (owed === undefined || run === undefined) return Promise.resolve()
    const isPaid = (): void => {
      this.#owed.delete(id)
    }
    if (owed.run !== run) return Promise.resolve(isPaid())
    return owed.tell().then(isPaid, (error: Error) => this.#link.lose(error.message))
  }

  async #restore(run: string): Promise<void> {
    const untold = [...this.#owed]
    await Promise.all(
      untold.map(async ([id, owed]) => {
        // Of another run it is in the journal, from which this run is seeded.
        if (owed.run === run) await owed.tell()
        this.#owed.delete(id)
      }),
    )
    const unknown = [...this.#holds.values()].filter(hold => hold.run !== run)
    await Promise.all(unknown.map(hold => this.#restoreOne(hold, run)))
  }

  async #restoreOne(hold: Hold, run: string): Promise<void> {
    const { id, leaseMs, amounts, at, subject, admittedAt, meters } = hold
    const args: (string | number)[] = [id, leaseMs, amounts.tokens, amounts.nanoUsd, at]
    args.push(...subjectArgs(subject), this.owner, admittedAt)
    for (const meter of meters) args.push(meter.key, codeOf(meter), grainOf(meter))
    // First, so that one that ends meanwhile is told there.
    hold.run = run
    await this.#link.commands.restore(holdsOf(run, subject.orgId), this.#time(), ...args)
  }

  /** `settled`: what each meter of the hold has settled since this request did. */
  #noteCrossings(hold: Hold, used: Used, settled: readonly number[]): void {
    hold.meters.forEach((meter, index) => {
      const after = settled[index]
      if (after === undefined || meter.alertAt.length === 0) return
      const before = after - usedBy(meter, used)
      for (const threshold of meter.alertAt) {
        if (threshold > before && threshold <= after)
          this.#options.onCrossing({ meter, threshold, settled: after })
      }
    })
  }
}

function usedBy(meter: Meter, used: Used): number {
  if (used.isSandbox && meter.subject.isRealOnly) return 0
  return meter.metric === 'requests' ? used.requests : amountOf(meter.metric, used)
}
