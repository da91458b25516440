import type { RequestContext } from './request-context.ts'

/** Waits for what may be asked for by others too: it goes on, but a request that is stopped waits no longer. */
export function waitFor<T>(ctx: RequestContext, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    ctx.watch(undefined, reject)
    const settle = (): void => ctx.unwatch()
    void promise.finally(settle).then(resolve, reject)
  })
}
