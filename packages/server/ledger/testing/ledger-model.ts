import type { Meter, Metric } from '../../core/limits/meter.ts'
import type { MeteredUsage } from '../../core/limits/metered-usage.ts'
import type { Amounts } from '../ledger.ts'

interface ModelRequest {
  readonly id: string
  readonly meters: readonly Meter[]
  readonly at: number
  amounts: Amounts
  leaseEnd: number
  /** A released request counts nothing, but its entry in a rolling window keeps its time. */
  state: 'running' | 'expired' | 'settled' | 'released'
  usage: MeteredUsage | undefined
}

export interface ModelStatus {
  readonly settled: number
  readonly reserved: number
  readonly resetAt: number | null
}

/** A refusal by one meter. */
export interface ModelRefusal extends ModelStatus {
  readonly key: string
  readonly wanted: number
  readonly retryAt: number | null
}

/** The reference for tests of ledgers: it keeps every request and adds all of them up each time it is asked. */
export class LedgerModel {
  readonly #requests: ModelRequest[] = []
  readonly #seeds: ReadonlyMap<string, number>

  /** `seeds`: usage so far of meters with a fixed window, by key. */
  constructor(seeds: ReadonlyMap<string, number> = new Map()) {
    this.#seeds = seeds
  }

  status(meter: Meter, now: number): ModelStatus {
    let settled = meter.kind === 'fixed' ? (this.#seeds.get(meter.key) ?? 0) : 0
    let reserved = 0
    let oldestAt: number | undefined
    for (const request of this.#requests) {
      if (!isCounted(request, meter, now)) continue
      oldestAt ??= request.at
      if (request.state === 'running') reserved += toReserve(meter.metric, request.amounts)
      else settled += toSettle(meter, request)
    }
    return { settled, reserved, resetAt: resetAt(meter, oldestAt) }
  }

  /** Returns the meters that refuse; empty: the request is admitted. */
  reserve(
    id: string,
    meters: readonly Meter[],
    amounts: Amounts,
    now: number,
    leaseMs: number,
  ): ModelRefusal[] {
    const refusals = meters.flatMap(meter => this.#check(meter, toReserve(meter.metric, amounts), now))
    const leaseEnd = now + leaseMs
    if (refusals.length === 0)
      this.#requests.push({ id, meters, at: now, amounts, leaseEnd, state: 'running', usage: undefined })
    return refusals
  }

  /** Returns the meters that refuse; undefined: there is no such reservation. */
  extend(id: string, amounts: Amounts, now: number, leaseMs: number): ModelRefusal[] | undefined {
    const request = this.#find(id)
    if (request === undefined) return undefined
    request.state = 'running'
    request.leaseEnd = now + leaseMs
    const refusals = request.meters.flatMap(meter => {
      const growth = toReserve(meter.metric, amounts) - toReserve(meter.metric, request.amounts)
      return growth > 0 ? this.#check(meter, growth, now) : []
    })
    if (refusals.length === 0) request.amounts = amounts
    return refusals
  }

  settle(id: string, usage: MeteredUsage): void {
    const request = this.#find(id)
    if (request === undefined) return
    request.state = 'settled'
    request.usage = usage
  }

  release(id: string): void {
    const request = this.#find(id)
    if (request !== undefined) request.state = 'released'
  }

  expire(now: number): void {
    for (const request of this.#requests) {
      if (request.state === 'running' && request.leaseEnd < now) request.state = 'expired'
    }
  }

  #find(id: string): ModelRequest | undefined {
    const request = this.#requests.find(each => each.id === id)
    return request?.state === 'running' || request?.state === 'expired' ? request : undefined
  }

  #check(meter: Meter, wanted: number, now: number): ModelRefusal[] {
    const status = this.status(meter, now)
    if (status.settled + status.reserved + wanted <= meter.limit) return []
    return [{ ...status, key: meter.key, wanted, retryAt: this.#retryAt(meter, wanted, now) }]
  }

  /** Tries every instant at which something leaves the window. */
  #retryAt(meter: Meter, wanted: number, now: number): number | null {
    if (wanted > meter.limit || meter.kind === 'concurrency') return null
    if (meter.kind === 'fixed') return meter.end
    const instants = this.#requests
      .filter(request => isCounted(request, meter, now))
      .map(({ at }) => at + meter.windowMs)
    return instants.find(at => {
      const { settled, reserved } = this.status(meter, at)
      return settled + reserved + wanted <= meter.limit
    }) as number
  }
}

function isCounted({ meters, at }: ModelRequest, meter: Meter, now: number): boolean {
  if (!meters.some(({ key }) => key === meter.key)) return false
  return meter.kind !== 'rolling' || at > now - meter.windowMs
}

function resetAt(meter: Meter, oldestAt: number | undefined): number | null {
  if (meter.kind === 'fixed') return meter.end
  return meter.kind === 'rolling' && oldestAt !== undefined ? oldestAt + meter.windowMs : null
}

function toReserve(metric: Metric, amounts: Amounts): number {
  return { requests: 1, in_flight: 1, tokens: amounts.tokens, nano_usd: amounts.nanoUsd }[metric]
}

function toSettle(meter: Meter, { state, usage, amounts }: ModelRequest): number {
  if (state === 'released') return 0
  if (usage === undefined) return meter.metric === 'in_flight' ? 0 : toReserve(meter.metric, amounts)
  if (meter.subject.excludesSandbox && usage.isSandbox) return 0
  const requests = meter.kind === 'rolling' ? 1 : usage.requests
  return { requests, in_flight: 0, tokens: usage.tokens, nano_usd: usage.nanoUsd }[meter.metric]
}
