import type { FaultCode } from './fault-table.ts'

/** A policy's "no", with its reason: a value, because it is a normal outcome. Only the edge turns it into a status. */
export interface Refusal {
  readonly code: FaultCode
  /** Public. */
  readonly message: string
  readonly param?: string
}
