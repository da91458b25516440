import type { Exchange } from './request-context.ts'

/** Waits for what may be asked for by others too: it goes on, but an exchange that is stopped waits no longer. */
export function waitFor<T>(x: Exchange, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    x.watch(undefined, reject)
    const settle = (): void => x.unwatch()
    void promise.finally(settle).then(resolve, reject)
  })
}
