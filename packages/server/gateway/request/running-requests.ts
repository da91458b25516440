import type { Fault } from '../../core/fault.ts'
import { ShortLivedMap } from '../../core/short-lived-map.ts'
import { canceledFault, type RequestContext } from './request-context.ts'

/** The running requests of this process, by environment and request id. Used by cancel, and to keep ids unique. */
export class RunningRequests {
  /** Environments with running requests: those that have none leave nothing, as tenants make and delete any number of them. */
  readonly #environments = new ShortLivedMap<ShortLivedMap<RequestContext>>()
  #size = 0
  #ended = 0

  get size(): number {
    return this.#size
  }

  /** How many requests have ended since the start. */
  get ended(): number {
    return this.#ended
  }

  /** Returns false if the environment already has a request with this id in flight. */
  add(environmentId: string, ctx: RequestContext): boolean {
    let running = this.#environments.get(environmentId)
    if (running === undefined) {
      running = new ShortLivedMap()
      this.#environments.set(environmentId, running)
    } else if (running.has(ctx.requestId)) return false
    running.set(ctx.requestId, ctx)
    this.#size++
    return true
  }

  /**
   * Stops a running request. A given `endUserId` must be the request's end user. Returns false if there is no such
   * request, or if it ends in another way, because its answer is decided.
   */
  cancel(environmentId: string, requestId: string, endUserId: string | null): boolean {
    const running = this.#environments.get(environmentId)?.get(requestId)
    if (running === undefined || (endUserId !== null && running.endUser?.id !== endUserId)) return false
    running.stop(canceledFault())
    return running.stopped?.code === 'request_canceled'
  }

  remove(environmentId: string, ctx: RequestContext): void {
    const running = this.#environments.get(environmentId)
    // A request that was refused before it was added must not remove another one with the same id.
    if (running === undefined || running.get(ctx.requestId) !== ctx) return
    running.delete(ctx.requestId)
    if (running.size === 0) this.#environments.delete(environmentId)
    this.#size--
    this.#ended++
  }

  /** Stops every running request with this fault and returns how many there were. */
  stopAll(fault: Fault): number {
    const all = [...this.#environments.entries()].flatMap(([, running]) => [...running.entries()])
    for (const [, ctx] of all) ctx.stop(fault)
    return all.length
  }
}
