import type { Meter, Seed } from '../../core/meter.ts'
import type { LedgerOptions } from '../ledger.ts'
import type { Link } from './link.ts'
import { codeOf, concernArgs, holdsOf, lifeOf, windowOf } from './meter-args.ts'

export interface SeederOptions extends Pick<LedgerOptions, 'seeds' | 'onCrossing'> {
  readonly link: Link
  /** As scripts take it. */
  readonly time: () => string | number
}

/** How long a new counter may take to be made. Requests that the server knows of are remembered for longer. */
const PATIENCE_MS = 8000

/** Makes counters that are not there yet, each once for all who wait for it. */
export class Seeder {
  readonly #options: SeederOptions
  readonly #running = new Map<string, Promise<boolean>>()

  constructor(options: SeederOptions) {
    this.#options = options
  }

  /** False where what was used so far cannot be learned, or the server has lost more than these counters. */
  async seed(run: string, meters: readonly Meter[], at: number): Promise<boolean> {
    const nameOf = (meter: Meter): string => `${run} ${meter.subject.orgId} ${meter.key}`
    const fresh = meters.filter(meter => !this.#running.has(nameOf(meter)))
    if (fresh.length > 0) {
      const seeding = this.#seed(run, fresh, at)
        .catch(() => false)
        .finally(() => {
          for (const meter of fresh) this.#running.delete(nameOf(meter))
        })
      for (const meter of fresh) this.#running.set(nameOf(meter), seeding)
    }
    const all = await Promise.all(meters.map(meter => this.#running.get(nameOf(meter))))
    return all.every(each => each === true)
  }

  async #seed(run: string, meters: readonly Meter[], at: number): Promise<boolean> {
    const { link, time } = this.#options
    if (!(await link.isWhole(run))) return false
    const holds = holdsOf(run, (meters[0] as Meter).subject.orgId)
    // What runs, and what ended a moment ago, the counter learns from the server itself; the rest is in PostgreSQL.
    const known = await link.commands.known(holds, time(), ...meters.flatMap(concernArgs))
    const counted = meters.filter(({ kind }) => kind !== 'concurrency')
    const seeds = counted.length === 0 ? [] : await this.#read(counted, at, known)
    const made = meters.map(meter => this.#make(holds, meter, seeds[counted.indexOf(meter)], at))
    await Promise.all(made)
    return true
  }

  async #read(meters: readonly Meter[], at: number, known: readonly string[]): Promise<readonly Seed[]> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error('what was used so far could not be read in time')),
        PATIENCE_MS,
      )
    })
    try {
      return await Promise.race([late, this.#options.seeds.read(meters, at, () => {}, known)])
    } finally {
      clearTimeout(timer)
    }
  }

  async #make(holds: string, meter: Meter, seed: Seed | undefined, at: number): Promise<void> {
    const { link, time, onCrossing } = this.#options
    const args: (string | number)[] = [meter.key, codeOf(meter), windowOf(meter), lifeOf(meter, at)]
    args.push(...concernArgs(meter), seed?.used ?? 0)
    for (const entry of seed?.entries ?? []) args.push(entry.at, entry.amount)
    const settled = await link.commands.seed(holds, time(), ...args)
    for (const threshold of meter.alertAt) {
      if (threshold <= settled) onCrossing({ meter, threshold, settled })
    }
  }
}
