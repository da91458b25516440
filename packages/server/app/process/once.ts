/** Returns a function that runs `task` at its first call, and returns that result at every call. */
export function once<T>(task: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  return () => {
    result ??= task()
    return result
  }
}
