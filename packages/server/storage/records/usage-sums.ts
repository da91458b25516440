import { LATENCY_SLOTS, toLatencySlot } from '../../core/records/latency-histogram.ts'
import type { RequestRecord } from '../../core/records/request-record.ts'
import { RecordTimes } from './record-times.ts'
import { UnstorableValue } from './storable.ts'

/** Every time zone's days begin at a whole quarter of an hour, so its records belong to the same hour and day everywhere. */
const QUARTER_MS = 900_000

/** What rollups are keyed by. */
export type UsageKey = Pick<
  RequestRecord,
  'org_id' | 'project_id' | 'environment_id' | 'key_id' | 'end_user_id' | 'provider' | 'model' | 'sandbox'
>

/** Usage of a batch's records with the same values of a rollup's key, in the same quarter of an hour. */
export interface UsageSum {
  /** The values that all have in common. */
  readonly of: UsageKey
  /** When the quarter of an hour begins, in Unix milliseconds. */
  readonly quarter: number
  requests: number
  errors: number
  unpriced: number
  uncachedInputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
  outputTokens: number
  reasoningTokens: number
  /** The sum of a batch may be more than a number holds exactly. */
  costNanoUsd: bigint
  /** Requests by latency slot. */
  readonly latencies: number[]
  /** Streams by the slot of the time to their first byte. */
  readonly firstBytes: number[]
}

/** Adds records up, so that the database updates a rollup once a batch and not once a record. */
export class UsageSums {
  readonly #sums: UsageSum[] = []
  /** By what differs most. A text of all that a sum has in common costs more than the rest of the sum. */
  readonly #groups = new Map<string, UsageSum[]>()
  readonly #times = new RecordTimes()

  /** Throws an UnstorableValue. */
  add(record: RequestRecord): void {
    const quarter = Math.floor(this.#times.toMs(record.at) / QUARTER_MS) * QUARTER_MS
    const name = `${record.key_id}\0${record.model}\0${record.end_user_id}`
    let group = this.#groups.get(name)
    if (group === undefined) {
      group = []
      this.#groups.set(name, group)
    }
    let sum = group.find(entry => entry.quarter === quarter && hasSameKey(entry.of, record))
    if (sum === undefined) {
      sum = createSum(record, quarter)
      group.push(sum)
      this.#sums.push(sum)
    }
    addTo(sum, record)
  }

  list(): readonly UsageSum[] {
    return this.#sums
  }
}

/** PostgreSQL groups again what differs here and is equal there. */
function hasSameKey(a: UsageKey, b: UsageKey): boolean {
  return (
    a.key_id === b.key_id &&
    a.model === b.model &&
    a.end_user_id === b.end_user_id &&
    a.provider === b.provider &&
    a.sandbox === b.sandbox &&
    a.environment_id === b.environment_id &&
    a.project_id === b.project_id &&
    a.org_id === b.org_id
  )
}

function createSum(record: RequestRecord, quarter: number): UsageSum {
  const { org_id, project_id, environment_id, key_id, end_user_id, provider, model, sandbox } = record
  return {
    of: { org_id, project_id, environment_id, key_id, end_user_id, provider, model, sandbox },
    quarter,
    requests: 0,
    errors: 0,
    unpriced: 0,
    uncachedInputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
    costNanoUsd: 0n,
    latencies: Array.from({ length: LATENCY_SLOTS }, () => 0),
    firstBytes: Array.from({ length: LATENCY_SLOTS }, () => 0),
  }
}

function addTo(sum: UsageSum, record: RequestRecord): void {
  sum.requests++
  if (record.status >= 400) sum.errors++
  sum.uncachedInputTokens += record.uncached_input_tokens
  sum.cacheReadTokens += record.cache_read_tokens
  sum.cacheWriteTokens += record.cache_write_tokens
  sum.outputTokens += record.output_tokens
  sum.reasoningTokens += record.reasoning_tokens
  const cost = toCost(record.cost_nano_usd)
  if (cost === undefined) sum.unpriced++
  else sum.costNanoUsd += cost
  count(sum.latencies, record.total_ms)
  if (record.stream && typeof record.first_byte_ms === 'number') count(sum.firstBytes, record.first_byte_ms)
}

function count(slots: number[], ms: number): void {
  const slot = toLatencySlot(ms)
  slots[slot] = (slots[slot] as number) + 1
}

/** Returns undefined where the column has no value. */
function toCost(nanoUsd: unknown): bigint | undefined {
  // As JSON and row-writer.ts have them.
  if (typeof nanoUsd !== 'number' || !Number.isFinite(nanoUsd)) return undefined
  if (!Number.isInteger(nanoUsd))
    throw new UnstorableValue('22P02', `a cost of ${nanoUsd} is no whole number`)
  return BigInt(nanoUsd)
}
