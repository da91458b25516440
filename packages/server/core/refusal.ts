import { Fault } from './fault.ts'
import type { FaultCode } from './fault-table.ts'

/**
 * A check's refusal and its reason. Returned as a value because refusing is a normal outcome; only the edge maps it to
 * a status.
 */
export interface Refusal {
  readonly code: FaultCode
  /** Sent to the caller. */
  readonly message: string
  readonly param?: string
}

export function toRefusalFault({ code, message, param }: Refusal): Fault {
  return new Fault(code, message, param === undefined ? {} : { param })
}
