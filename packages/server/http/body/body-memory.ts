import type { Fault } from '../../core/fault.ts'

/** Reserves memory for bodies, so that all of them together are bounded. */
export interface BodyMemory {
  /** Reserves more bytes for a body. Returns the fault to answer if there is no room for them. */
  acquire(bytes: number): Fault | undefined
}
