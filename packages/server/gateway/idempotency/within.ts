/**
 * Rejects if `work` takes longer. The work goes on: `onLate` gets its result, and a late failure is ignored.
 */
export function within<T>(timeoutMs: number, work: Promise<T>, onLate?: (result: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      reject(new Error(`no answer of the database in ${timeoutMs} ms`))
    }, timeoutMs)
    work.then(
      result => {
        clearTimeout(timer)
        if (isLate) onLate?.(result)
        else resolve(result)
      },
      error => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
