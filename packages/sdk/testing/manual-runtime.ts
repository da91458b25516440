import { type Runtime, toAbortReason } from '../runtime.ts'

export interface ManualRuntime extends Runtime {
  /** Every wait that was asked for, in milliseconds. None takes any time. */
  readonly waits: readonly number[]
  advance(ms: number): void
}

/** Time that the test moves. `random` is one half unless given. */
export function createManualRuntime(random = 0.5): ManualRuntime {
  let now = 0
  const waits: number[] = []
  return {
    waits,
    now: () => now,
    random: () => random,
    sleep: async (ms, signal) => {
      if (signal?.aborted === true) throw toAbortReason(signal)
      waits.push(ms)
    },
    advance: ms => {
      now += ms
    },
  }
}
