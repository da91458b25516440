import type { Meter, Seed } from '../../core/limits/meter.ts'
import type { MeteredUsage } from '../../core/limits/metered-usage.ts'
import type { SeedSource } from '../seed-source.ts'

interface UsageRecord {
  readonly id: string
  readonly at: number
  readonly usage: MeteredUsage
}

/** Usage records as the gateway keeps them: written to a journal first, stored later, at the latest by the next read. Tests can act during a read. */
export class UsageDatabase implements SeedSource {
  #journal: UsageRecord[] = []
  readonly #stored: UsageRecord[] = []
  /** The meters of each read. */
  readonly reads: (readonly Meter[])[] = []
  /** Called at the start of a read, before it is decided which records it sees. May throw. */
  beforeSnapshot: () => Promise<void> = async () => {}
  /** Called between the snapshot and the answer of a read. */
  afterSnapshot: (meters: readonly Meter[]) => Promise<void> = async () => {}

  write(id: string, at: number, usage: MeteredUsage): void {
    this.#journal.push({ id, at, usage })
  }

  /** Stores what is in the journal. */
  store(): void {
    this.#stored.push(...this.#journal)
    this.#journal = []
  }

  /** The sum over all records, stored or not. */
  total(amountOf: (usage: MeteredUsage) => number): number {
    return [...this.#stored, ...this.#journal].reduce((sum, { usage }) => sum + amountOf(usage), 0)
  }

  async read(
    meters: readonly Meter[],
    _at: number,
    onSnapshot: (missing: ReadonlySet<string>) => void,
    without: readonly string[] = [],
  ): Promise<readonly Seed[]> {
    this.reads.push(meters)
    this.store()
    await this.beforeSnapshot()
    onSnapshot(new Set(this.#journal.map(({ id }) => id)))
    const records = this.#stored.filter(({ id }) => !without.includes(id))
    await this.afterSnapshot(meters)
    return meters.map(meter => {
      const entries = records.map(({ at, usage }) => ({ at, amount: amountOf(meter, usage) }))
      const used = entries.reduce((sum, { amount }) => sum + amount, 0)
      return { used, entries: meter.kind === 'rolling' ? entries : [] }
    })
  }
}

function amountOf(meter: Meter, usage: MeteredUsage): number {
  if (meter.metric === 'tokens') return usage.tokens
  if (meter.metric === 'nano_usd') return usage.nanoUsd
  return meter.kind === 'rolling' ? 1 : usage.requests
}
