import type { RequestContext } from './request-context.ts'

/** Waits for a shared promise. The wait rejects when the request is stopped; the shared work goes on. */
export function waitFor<T>(ctx: RequestContext, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    ctx.watch(undefined, reject)
    const settle = (): void => ctx.unwatch()
    void promise.finally(settle).then(resolve, reject)
  })
}
