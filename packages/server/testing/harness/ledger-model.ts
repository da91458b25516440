import type { Meter, MeterSubject, Metric, Seed } from '../../core/meter.ts'
import type { Amounts, SeedSource, Used } from '../../ledger/ledger.ts'

/** A ledger without any cleverness: it keeps every request and counts them all again each time. */
export class LedgerModel {
  readonly #requests: Known[] = []
  readonly #seeds: ReadonlyMap<string, number>

  /** Seeds of span meters, by key. */
  constructor(seeds: ReadonlyMap<string, number> = new Map()) {
    this.#seeds = seeds
  }

  standing(meter: Meter, now: number): { settled: number; held: number } {
    let settled = meter.kind === 'span' ? (this.#seeds.get(meter.key) ?? 0) : 0
    let held = 0
    for (const request of this.#requests) {
      if (!request.meters.some(({ key }) => key === meter.key)) continue
      if (meter.kind === 'rolling' && request.at <= now - meter.windowMs) continue
      if (request.used === undefined) held += wantedOf(meter.metric, request.hold)
      else settled += usedOf(meter, request.used)
    }
    return { settled, held }
  }

  /** The meters that say no; empty: it is held. */
  admit(id: string, meters: readonly Meter[], hold: Amounts, now: number): string[] {
    const no = meters.filter(meter => {
      const { settled, held } = this.standing(meter, now)
      return settled + held + wantedOf(meter.metric, hold) > meter.limit
    })
    if (no.length === 0) this.#requests.push({ id, meters, at: now, hold, used: undefined })
    return no.map(({ key }) => key)
  }

  extend(id: string, hold: Amounts, now: number): string[] {
    const request = this.#running(id)
    if (request === undefined) return ['gone']
    const no = request.meters.filter(meter => {
      const more = wantedOf(meter.metric, hold) - wantedOf(meter.metric, request.hold)
      const { settled, held } = this.standing(meter, now)
      return more > 0 && settled + held + more > meter.limit
    })
    if (no.length === 0) request.hold = hold
    return no.map(({ key }) => key)
  }

  settle(id: string, used: Used): void {
    const request = this.#running(id)
    if (request !== undefined) request.used = used
  }

  release(id: string): void {
    const at = this.#requests.findIndex(request => request.id === id && request.used === undefined)
    if (at >= 0) this.#requests.splice(at, 1)
  }

  #running(id: string): Known | undefined {
    return this.#requests.find(request => request.id === id && request.used === undefined)
  }
}

interface Known {
  readonly id: string
  readonly meters: readonly Meter[]
  readonly at: number
  hold: Amounts
  used: Used | undefined
}

function wantedOf(metric: Metric, hold: Amounts): number {
  return { requests: 1, in_flight: 1, tokens: hold.tokens, nano_usd: hold.nanoUsd }[metric]
}

function usedOf(meter: Meter, used: Used): number {
  if (meter.subject.isRealOnly && used.isSandbox) return 0
  const counted = meter.kind === 'rolling' ? 1 : used.requests
  return { requests: counted, in_flight: 0, tokens: used.tokens, nano_usd: used.nanoUsd }[meter.metric]
}

const EVERYBODY: MeterSubject = {
  orgId: 'org',
  projectId: null,
  environmentId: null,
  keyId: null,
  endUserId: null,
  isRealOnly: false,
}

/** A request of the key `key` and the end user `user`. */
export const CALLER: MeterSubject = {
  orgId: 'org',
  projectId: 'project',
  environmentId: 'environment',
  keyId: 'key',
  endUserId: 'user',
  isRealOnly: false,
}

/** Meters for tests; each kind counts what all of the organization does. */
export function makeMeter(
  kind: 'rate' | 'token_rate' | 'requests' | 'tokens' | 'budget' | 'concurrency',
  limit: number,
  more: { key?: string; windowMs?: number; since?: number; end?: number | null; alertAt?: number[] } & {
    subject?: Partial<MeterSubject>
  } = {},
): Meter {
  const key = more.key ?? kind
  const base = {
    subject: { ...EVERYBODY, ...more.subject },
    source: { kind: 'limit', id: key, scope: 'org', ref: 'org', code: 'rate_limit_exceeded' },
    limit,
    nominalLimit: limit,
    alertAt: more.alertAt ?? [],
    since: more.since ?? 0,
  } as const
  if (kind === 'concurrency') return { ...base, key, kind: 'concurrency', metric: 'in_flight' }
  if (kind === 'rate' || kind === 'token_rate') {
    const metric = kind === 'rate' ? 'requests' : 'tokens'
    return { ...base, key, kind: 'rolling', metric, windowMs: more.windowMs ?? 60_000 }
  }
  const metric = kind === 'budget' ? 'nano_usd' : kind
  const end = more.end ?? null
  return { ...base, key: `${key}@${base.since}`, series: key, kind: 'span', metric, end }
}

/** Of a house that has used nothing, or so much of each meter by its key. */
export function openSeeds(used: ReadonlyMap<string, Seed> = new Map()): SeedSource {
  return {
    async read(meters, _at, onCut) {
      onCut(new Set())
      return meters.map(({ key }) => used.get(key) ?? { used: 0, entries: [] })
    },
  }
}
