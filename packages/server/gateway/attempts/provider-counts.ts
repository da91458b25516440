import { PROVIDERS } from '@rideau/llm/providers/index'
import type { UpstreamErrorKind } from '@rideau/llm/upstream/upstream-error'
import type { Bill } from '@rideau/llm/usage/bill'
import { inputTokens, outputTokens } from '@rideau/llm/usage/usage-sums'

/** How an attempt ended. `canceled`: the request was stopped before its provider answered. */
export type AttemptOutcome = 'success' | 'canceled' | UpstreamErrorKind

const OUTCOMES: Readonly<Record<AttemptOutcome, 0>> = {
  success: 0,
  canceled: 0,
  rate_limited: 0,
  overloaded: 0,
  quota: 0,
  auth: 0,
  context_length: 0,
  content_filter: 0,
  model_not_found: 0,
  bad_request: 0,
  unavailable: 0,
  timeout: 0,
  interrupted: 0,
}

/** Upper bounds in seconds of the buckets of latencies. */
export const LATENCY_BOUNDS: readonly number[] = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

/** Latencies by bucket. The last one is of those above all bounds. */
export interface LatencyCounts {
  readonly buckets: readonly number[]
  /** Seconds. */
  readonly sum: number
}

export interface ProviderCount {
  readonly outcomes: Readonly<Record<AttemptOutcome, number>>
  /** Of whole answers. */
  readonly plain: LatencyCounts
  /** Of streams until their first event. */
  readonly stream: LatencyCounts
  readonly inputTokens: number
  readonly outputTokens: number
  readonly nanoUsd: number
}

class Count implements ProviderCount {
  readonly outcomes: Record<AttemptOutcome, number> = { ...OUTCOMES }
  readonly plain = new Latency()
  readonly stream = new Latency()
  inputTokens = 0
  outputTokens = 0
  nanoUsd = 0
}

class Latency implements LatencyCounts {
  readonly buckets: number[] = Array.from({ length: LATENCY_BOUNDS.length + 1 }, () => 0)
  sum = 0

  add(seconds: number): void {
    const at = LATENCY_BOUNDS.findIndex(bound => seconds <= bound)
    const bucket = at < 0 ? LATENCY_BOUNDS.length : at
    this.buckets[bucket] = (this.buckets[bucket] as number) + 1
    this.sum += seconds
  }
}

const KNOWN: ReadonlySet<string> = new Set(PROVIDERS.map(({ id }) => id))

/** What this process has called, for metrics. All providers that tenants name themselves count as `custom`, so that they are few. */
export class ProviderCounts {
  readonly #byProvider = new Map<string, Count>()

  /** By providers that were called. */
  get all(): ReadonlyMap<string, ProviderCount> {
    return this.#byProvider
  }

  noteAttempt(providerId: string, outcome: AttemptOutcome, ms: number, isStream: boolean): void {
    const count = this.#get(providerId)
    count.outcomes[outcome]++
    // Failures say nothing about how fast the provider answers.
    if (outcome === 'success') (isStream ? count.stream : count.plain).add(ms / 1000)
  }

  /** An unknown cost is left out. */
  noteBill(providerId: string, { usage, costNanoUsd }: Bill): void {
    const count = this.#get(providerId)
    count.inputTokens += toSummable(inputTokens(usage))
    count.outputTokens += toSummable(outputTokens(usage))
    count.nanoUsd += toSummable(costNanoUsd ?? 0)
  }

  #get(providerId: string): Count {
    const label = KNOWN.has(providerId) ? providerId : 'custom'
    let count = this.#byProvider.get(label)
    if (count === undefined) {
      count = new Count()
      this.#byProvider.set(label, count)
    }
    return count
  }
}

/** A provider may report any amount, and a sum that became infinite fails each later scrape. */
function toSummable(amount: number): number {
  return Math.min(amount, Number.MAX_SAFE_INTEGER)
}
