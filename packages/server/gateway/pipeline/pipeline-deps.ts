import type { AttemptDeps } from '../attempts/attempt-deps.ts'
import type { EdgeDeps } from '../edge/edge-deps.ts'
import type { RequestCounts } from '../edge/request-counts.ts'
import type { IdempotencyDeps } from '../idempotency/idempotency-deps.ts'
import type { MeterSets } from '../limits/meter-sets.ts'
import type { Reservations } from '../limits/reservations.ts'
import type { RecordDeps } from '../records/record-deps.ts'
import type { RequestDeps } from '../request/request-deps.ts'
import type { Ticker } from '../request/ticker.ts'

/** What a model call needs of the process, from its first step to its last. */
export interface PipelineDeps extends RequestDeps, EdgeDeps, AttemptDeps, RecordDeps, IdempotencyDeps {
  readonly ticker: Ticker
  readonly requestCounts: RequestCounts
  readonly meterSets: MeterSets
  readonly reservations: Reservations
}
