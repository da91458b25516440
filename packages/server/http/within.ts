/**
 * Resolves like `work`, or rejects with the error of `onTimeout` after `timeoutMs`. The work itself goes on: `onLate` gets its
 * result, and a late failure is ignored.
 */
export function within<Result>(
  timeoutMs: number,
  work: Promise<Result>,
  onTimeout: () => Error,
  onLate?: (result: Result) => void,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    let isLate = false
    let isEnded = false
    const end = (): void => {
      if (isEnded) return
      isLate = true
      reject(onTimeout())
    }
    // After a long tick the answer may have arrived and not been read yet.
    const timer = setTimeout(() => setImmediate(end), timeoutMs)
    work.then(
      result => {
        isEnded = true
        clearTimeout(timer)
        if (isLate) onLate?.(result)
        else resolve(result)
      },
      error => {
        isEnded = true
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
