import type { Random } from '../../core/chance.ts'
import type { Latencies } from './latencies.ts'

/** What the order of targets depends on. */
export interface PlanDeps {
  readonly random: Random
  readonly latencies: Latencies
}
