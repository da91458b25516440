import { expect } from 'vitest'
import type { ScriptedUpstream, UpstreamAnswer } from './scripted-upstream.ts'

/** A provider that waits before each answer until it is opened. */
export interface GatedAnswers {
  /** How many requests have arrived. */
  calls(): number
  /** Resolves once a request waits. */
  arrived(): Promise<void>
  /** Lets the request that has waited longest get its answer. */
  open(): void
}

/** Makes `upstream` wait before each of these answers. */
export function gateAnswers(upstream: ScriptedUpstream, answers: readonly UpstreamAnswer[]): GatedAnswers {
  const waiting: (() => void)[] = []
  let calls = 0
  upstream.script(
    ...answers.map(
      (answer): UpstreamAnswer =>
        async (res, seen) => {
          calls++
          await new Promise<void>(resolve => waiting.push(resolve))
          await answer(res, seen)
        },
    ),
  )
  return {
    calls: () => calls,
    async arrived() {
      await expect.poll(() => waiting.length, { timeout: 20_000 }).toBeGreaterThan(0)
    },
    open: () => waiting.shift()?.(),
  }
}
