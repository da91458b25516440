import type { Idempotency } from './idempotency.ts'

/** What requests with an idempotency key need of the process. */
export interface IdempotencyDeps {
  readonly idempotency: Idempotency
}
