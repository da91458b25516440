import { ShortLivedMap } from '../../core/short-lived-map.ts'
import { canceledFault, type RequestContext } from './request-context.ts'

/** The requests that are running in this process, by environment and request id: for cancel, and to keep ids apart. */
export class InFlight {
  readonly #environments = new Map<string, ShortLivedMap<RequestContext>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** False where the environment already has a request of that id in flight. */
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

  /** Stops a running request, where `endUserId` is given only one of that end user; false where none runs by that id. */
  cancel(environmentId: string, requestId: string, endUserId: string | null): boolean {
    const running = this.#environments.get(environmentId)?.get(requestId)
    if (running === undefined || (endUserId !== null && running.endUser?.id !== endUserId)) return false
    running.stop(canceledFault())
    return true
  }

  remove(environmentId: string, ctx: RequestContext): void {
    const running = this.#environments.get(environmentId)
    // A request that was refused before it was entered must not take out another of the same id.
    if (running === undefined || running.get(ctx.requestId) !== ctx) return
    running.delete(ctx.requestId)
    this.#size--
  }
}
