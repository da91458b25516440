import type { Meter } from '../../core/limits/meter.ts'
import type { MeteredUsage } from '../../core/limits/metered-usage.ts'
import type { Amounts, Ledger, MeterStatus, RecoveredSettlement, ReserveRequest, Verdict } from '../ledger.ts'

/** A ledger that counts the requests of workers too. `owner`: the name of the worker whose request it is. */
interface OwnedLedger extends Ledger {
  reserve(request: ReserveRequest, owner?: string): Verdict | Promise<Verdict>
  /** Ends what is left of a worker that was killed. Returns the number of reservations. */
  expireOwner(owner: string): number
}

/** A ledger whose counters all processes share. Its verdicts are `unavailable` while its server is unreachable. */
export interface SharedLedger extends OwnedLedger {
  /** Takes over a request that a local ledger admitted. The server learns of it as soon as it is reachable. */
  adopt(request: ReserveRequest, owner: string, statuses: readonly MeterStatus[]): void
  /** Changes what an adopted request reserves. */
  adoptAmounts(id: string, amounts: Amounts): void
}

export interface FailoverLedgerOptions {
  readonly shared: SharedLedger
  /** Opens a ledger that counts in this process alone and seeds all its counters. Called once an outage. */
  readonly openLocal: () => OwnedLedger
  /** True: during an outage the local ledger checks limits on cost too. False: requests under such a limit are refused. */
  readonly isFailOpen: boolean
}

/**
 * Counts in the shared ledger. During an outage, each process counts alone in a local ledger that starts from the usage
 * records, and requests under a limit on cost are refused unless `isFailOpen`. The shared ledger adopts what was admitted
 * locally.
 */
export class FailoverLedger implements Ledger {
  readonly owner: string
  readonly #options: FailoverLedgerOptions
  /** The ledger of the current outage. Each outage has its own, since its seeds contain what others counted before it. */
  #local: OwnedLedger | undefined
  /** The local ledger of each request that was admitted by one, and the request's owner. */
  readonly #localOf = new Map<string, { readonly ledger: OwnedLedger; readonly owner: string }>()
  #localAdmissions = 0

  constructor(options: FailoverLedgerOptions) {
    this.#options = options
    this.owner = options.shared.owner
  }

  /** `owner`: the name of the worker whose request it is. */
  async reserve(request: ReserveRequest, owner: string = this.owner): Promise<Verdict> {
    const { shared, isFailOpen } = this.#options
    const verdict = await shared.reserve(request, owner)
    if (verdict.isAdmitted || 'refusal' in verdict) {
      this.#local = undefined
      return verdict
    }
    // Only these counters cannot be read: an organization whose seeds fail must not be counted apart by each process, nor open a ledger
    // whose seeds all read again for each of its requests.
    if (shared.health().isHealthy) return verdict
    if (!isFailOpen && request.meters.some(limitsCost)) return verdict
    const ledger = this.#openLocal()
    const localVerdict = await ledger.reserve(request, owner)
    if (localVerdict.isAdmitted) {
      this.#localAdmissions++
      this.#localOf.set(request.id, { ledger, owner })
      shared.adopt(request, owner, localVerdict.statuses)
    }
    return localVerdict
  }

  async extend(id: string, amounts: Amounts, at: number, leaseMs: number): Promise<Verdict> {
    const { shared } = this.#options
    const local = this.#localOf.get(id)?.ledger
    if (local === undefined || shared.health().isHealthy) return await shared.extend(id, amounts, at, leaseMs)
    const verdict = await local.extend(id, amounts, at, leaseMs)
    if (verdict.isAdmitted) shared.adoptAmounts(id, amounts)
    return verdict
  }

  settle(id: string, usage: MeteredUsage): void | Promise<void> {
    void this.#takeLocal(id)?.settle(id, usage)
    return this.#options.shared.settle(id, usage)
  }

  settleRecovered(settlements: readonly RecoveredSettlement[]): Promise<void> {
    for (const { id, usage } of settlements) void this.#takeLocal(id)?.settle(id, usage)
    return this.#options.shared.settleRecovered(settlements)
  }

  release(id: string): void | Promise<void> {
    void this.#takeLocal(id)?.release(id)
    return this.#options.shared.release(id)
  }

  async read(meters: readonly Meter[], at: number): Promise<readonly MeterStatus[] | undefined> {
    return (await this.#options.shared.read(meters, at)) ?? (await this.#local?.read(meters, at))
  }

  async expire(at: number): Promise<number> {
    let expired = await this.#options.shared.expire(at)
    for (const local of this.#listLocals()) expired += await local.expire(at)
    return expired
  }

  /** Ends what is left of a worker that was killed. On Redis its leases run out. Returns the number of reservations. */
  expireOwner(owner: string): number {
    for (const local of this.#listLocals()) local.expireOwner(owner)
    for (const [id, local] of this.#localOf) if (local.owner === owner) this.#localOf.delete(id)
    return this.#options.shared.expireOwner(owner)
  }

  health(): { isHealthy: boolean; reasons: readonly string[] } {
    const { isHealthy, reasons } = this.#options.shared.health()
    if (isHealthy) return { isHealthy, reasons }
    const consequence = this.#options.isFailOpen
      ? 'each process counts all limits alone'
      : 'requests that a limit on money concerns are refused, and each process counts other limits alone'
    return { isHealthy, reasons: [...reasons, consequence] }
  }

  /** Number of requests so far that a local ledger admitted. */
  get localAdmissionCount(): number {
    return this.#localAdmissions
  }

  async close(): Promise<void> {
    await this.#options.shared.close()
  }

  #takeLocal(id: string): OwnedLedger | undefined {
    const local = this.#localOf.get(id)
    this.#localOf.delete(id)
    return local?.ledger
  }

  #listLocals(): ReadonlySet<OwnedLedger> {
    const locals = new Set(Array.from(this.#localOf.values(), ({ ledger }) => ledger))
    if (this.#local !== undefined) locals.add(this.#local)
    return locals
  }

  #openLocal(): OwnedLedger {
    this.#local ??= this.#options.openLocal()
    return this.#local
  }
}

function limitsCost({ metric }: Meter): boolean {
  return metric === 'nano_usd'
}
