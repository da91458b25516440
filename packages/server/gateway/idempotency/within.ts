/**
 * Rejects if `work` takes longer. The work goes on: `onLate` gets its result, and a late failure is ignored.
 */
export function within<T>(timeoutMs: number, work: Promise<T>, onLate?: (result: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    let isLate = false
    let isEnded = false
    const end = (): void => {
      if (isEnded) return
      isLate = true
      reject(new Error(`no answer of the database in ${timeoutMs} ms`))
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
