import type { FormatRegistry } from '@rideau/llm/formats/format-registry'
import type { Random } from '../../core/random.ts'
import type { Latencies } from './latencies.ts'

/** What the selection of targets depends on besides the request. */
export interface SelectionDeps {
  readonly formats: FormatRegistry
  readonly random: Random
  readonly latencies: Latencies
}
