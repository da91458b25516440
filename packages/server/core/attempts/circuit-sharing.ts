import type { CircuitName, OpenState } from './circuit.ts'

/** A circuit change that another process published. `updatedAt`: of the credential that rests. */
export type CircuitUpdate =
  | (CircuitName & { readonly change: 'open' } & OpenState)
  | (CircuitName & { readonly change: 'close' })
  | (CircuitName & { readonly change: 'rest'; readonly restMs: number; readonly updatedAt: number })

/** The circuits of other gateway processes. Its methods never throw: without a connection each process is on its own. */
export interface CircuitSharing {
  publish(update: CircuitUpdate): void
  /** Claims the only probe of a circuit for `leaseMs` milliseconds. Resolves with true if no other process has it, or if none can be asked. */
  claimProbe(name: CircuitName, leaseMs: number): Promise<boolean>
  releaseProbe(name: CircuitName): void
}
