import type { Meter } from '../core/meter.ts'
import type { AdmitRequest, Amounts, FormerEnd, Ledger, Standing, Used, Verdict } from './ledger.ts'

/** Counts over all processes. Unavailable while its server is away. */
export interface SharedLedger extends Ledger {
  /** Takes over a request that was admitted without it, as soon as it can. */
  adopt(request: AdmitRequest, standings: readonly Standing[]): void
  adoptAmounts(id: string, amounts: Amounts): void
}

export interface FailoverLedgerOptions {
  readonly shared: SharedLedger
  /** Opens one that counts in this process alone, whose counters are all seeded. */
  readonly openLocal: () => Ledger
  /** Limits on money too are counted by each process alone meanwhile. False: what they concern is refused. */
  readonly isFailOpen: boolean
}

/**
 * Shared counting, and what is done without it: a request that a limit on money concerns is refused, others are counted
 * by each process alone, with counters that begin where the usage ledger stands. What was admitted so is told to the
 * shared counters when they are back.
 */
export class FailoverLedger implements Ledger {
  readonly owner: string
  readonly #options: FailoverLedgerOptions
  /** Of this outage. Another outage gets another: what others counted between the two is in its seeds. */
  #local: Ledger | undefined
  /** Where the requests that were admitted so hold too. */
  readonly #elsewhere = new Map<string, Ledger>()
  #alone = 0

  constructor(options: FailoverLedgerOptions) {
    this.#options = options
    this.owner = options.shared.owner
  }

  async admit(request: AdmitRequest): Promise<Verdict> {
    const { shared, isFailOpen } = this.#options
    const verdict = await shared.admit(request)
    if (verdict.isAdmitted || 'refused' in verdict) {
      this.#local = undefined
      return verdict
    }
    if (!isFailOpen && request.meters.some(isMoney)) return verdict
    const local = this.#openLocal()
    const alone = await local.admit(request)
    if (alone.isAdmitted) {
      this.#alone++
      this.#elsewhere.set(request.id, local)
      shared.adopt(request, alone.standings)
    }
    return alone
  }

  async extend(id: string, hold: Amounts, at: number, leaseMs: number): Promise<Verdict> {
    const { shared } = this.#options
    const local = this.#elsewhere.get(id)
    if (local === undefined || shared.health().isWhole) return await shared.extend(id, hold, at, leaseMs)
    const verdict = await local.extend(id, hold, at, leaseMs)
    if (verdict.isAdmitted) shared.adoptAmounts(id, hold)
    return verdict
  }

  settle(id: string, used: Used): void | Promise<void> {
    void this.#leave(id)?.settle(id, used)
    return this.#options.shared.settle(id, used)
  }

  settleFormer(ended: readonly FormerEnd[]): Promise<void> {
    return this.#options.shared.settleFormer(ended)
  }

  release(id: string): void | Promise<void> {
    void this.#leave(id)?.release(id)
    return this.#options.shared.release(id)
  }

  async read(meters: readonly Meter[], at: number): Promise<readonly Standing[] | undefined> {
    return (await this.#options.shared.read(meters, at)) ?? (await this.#local?.read(meters, at))
  }

  async sweep(at: number): Promise<number> {
    let swept = await this.#options.shared.sweep(at)
    const locals = new Set(this.#elsewhere.values())
    if (this.#local !== undefined) locals.add(this.#local)
    for (const local of locals) swept += await local.sweep(at)
    return swept
  }

  health(): { isWhole: boolean; reasons: readonly string[] } {
    const { isWhole, reasons } = this.#options.shared.health()
    if (isWhole) return { isWhole, reasons }
    const meanwhile = this.#options.isFailOpen
      ? 'every limit is counted by each process alone'
      : 'requests that a limit on money concerns are refused, other limits are counted by each process alone'
    return { isWhole, reasons: [...reasons, meanwhile] }
  }

  /** Requests that were admitted by this process alone, so far. */
  get aloneCount(): number {
    return this.#alone
  }

  async close(): Promise<void> {
    await this.#options.shared.close()
  }

  #leave(id: string): Ledger | undefined {
    const local = this.#elsewhere.get(id)
    this.#elsewhere.delete(id)
    return local
  }

  #openLocal(): Ledger {
    this.#local ??= this.#options.openLocal()
    return this.#local
  }
}

function isMoney({ metric }: Meter): boolean {
  return metric === 'nano_usd'
}
