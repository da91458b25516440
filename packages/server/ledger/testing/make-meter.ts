import type { Meter, MeterSubject, Seed } from '../../core/limits/meter.ts'
import type { MeteredUsage } from '../../core/limits/metered-usage.ts'
import type { ReserveRequest } from '../ledger.ts'
import type { SeedSource } from '../seed-source.ts'

const WHOLE_ORGANIZATION: MeterSubject = {
  orgId: 'org',
  projectId: null,
  environmentId: null,
  keyId: null,
  endUserId: null,
  excludesSandbox: false,
}

/** The subject of a request by the key `key` and the end user `user`. */
export const CALLER: MeterSubject = {
  orgId: 'org',
  projectId: 'project',
  environmentId: 'environment',
  keyId: 'key',
  endUserId: 'user',
  excludesSandbox: false,
}

export type MeterKind = 'rate' | 'token_rate' | 'requests' | 'tokens' | 'budget' | 'concurrency'

export interface MeterSettings {
  /** Default: the kind. */
  readonly key?: string
  readonly windowMs?: number
  readonly since?: number
  /** Default: `since`. */
  readonly changedAt?: number
  readonly end?: number | null
  readonly alertThresholds?: number[]
  /** Default: all requests of the organization. */
  readonly subject?: Partial<MeterSubject>
}

/** A meter for tests: `rate` and `token_rate` are rolling, `requests`, `tokens` and `budget` have a fixed window. */
export function makeMeter(kind: MeterKind, limit: number, settings: MeterSettings = {}): Meter {
  const { key = kind, since = 0, alertThresholds = [], windowMs = 60_000, end = null } = settings
  const base = {
    subject: { ...WHOLE_ORGANIZATION, ...settings.subject },
    source: { kind: 'limit', id: key, scope: 'org', ref: 'org', code: 'rate_limit_exceeded' },
    limit,
    nominalLimit: limit,
    alertThresholds,
    since,
    changedAt: settings.changedAt ?? since,
  } as const
  if (kind === 'concurrency') return { ...base, key, kind: 'concurrency', metric: 'in_flight' }
  if (kind === 'rate' || kind === 'token_rate') {
    const metric = kind === 'rate' ? 'requests' : 'tokens'
    return { ...base, key, kind: 'rolling', metric, windowMs }
  }
  const metric = kind === 'budget' ? 'nano_usd' : kind
  return { ...base, key: `${key}@${since}`, series: key, kind: 'fixed', metric, end }
}

/** The time at which tests begin, in Unix milliseconds. */
export const T = 1_000_000_000_000

/** A request that arrives at its `at`, T by default, with a lease of a minute that reserves no tokens and no cost. */
export function toRequest(
  id: string,
  meters: readonly Meter[],
  settings: Partial<ReserveRequest> = {},
): ReserveRequest {
  return {
    id,
    at: T,
    arrivedAt: settings.at ?? T,
    meters,
    subject: CALLER,
    amounts: { tokens: 0, nanoUsd: 0 },
    leaseMs: 60_000,
    ...settings,
  }
}

/** The usage of a served request. */
export function toUsage(usage: Partial<MeteredUsage> = {}): MeteredUsage {
  return { requests: 1, tokens: 0, nanoUsd: 0, isSandbox: false, ...usage }
}

/** Seeds by the keys of their meters. Others have no usage yet. */
export function openSeeds(used: ReadonlyMap<string, Seed> = new Map()): SeedSource {
  return {
    async read(meters, _at, onSnapshot) {
      onSnapshot(new Set())
      return meters.map(({ key }) => used.get(key) ?? { used: 0, entries: [] })
    },
  }
}
