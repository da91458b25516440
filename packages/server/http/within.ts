/**
 * Resolves like `work`, or rejects with the error of `onTimeout` after `timeoutMs`. The work itself goes on; what it comes
 * to later is ignored.
 */
export function within<Result>(
  timeoutMs: number,
  work: Promise<Result>,
  onTimeout: () => Error,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(onTimeout()), timeoutMs)
    work.finally(() => clearTimeout(timer)).then(resolve, reject)
  })
}
