import type { Fault } from '../../core/fault.ts'
import { canceledFault } from '../request/request-context.ts'
import type { WatchedContext } from './attempt-whole.ts'

type OnTick = (now: number) => void
type OnStop = (fault: Fault) => void

/** Lets several concurrent waits share the one watch of a request context: passes ticks and stops on to each. */
export class WatchGroup {
  readonly #ctx: WatchedContext
  readonly #waits = new Set<{ onTick: OnTick | undefined; onStop: OnStop }>()

  constructor(ctx: WatchedContext) {
    this.#ctx = ctx
    ctx.watch(
      now => {
        for (const wait of [...this.#waits]) wait.onTick?.(now)
      },
      fault => this.#end(fault),
    )
  }

  open(): WatchedContext {
    let own: { onTick: OnTick | undefined; onStop: OnStop } | undefined
    const { environment, caller, endUser, permit } = this.#ctx
    return {
      environment,
      caller,
      endUser,
      permit,
      fail: (error, where) => this.#ctx.fail(error, where),
      watch: (onTick, onStop) => {
        own = { onTick, onStop }
        this.#waits.add(own)
      },
      unwatch: () => {
        if (own !== undefined) this.#waits.delete(own)
      },
    }
  }

  /** Stops every wait that is still running. */
  stop(): void {
    this.#end(canceledFault())
  }

  close(): void {
    this.#ctx.unwatch()
  }

  /** Stops all waits, even if one of them throws. */
  #end(fault: Fault): void {
    for (const wait of [...this.#waits]) {
      try {
        wait.onStop(fault)
      } catch (error) {
        this.#ctx.fail(error, 'the end of a wait')
      }
    }
  }
}
