/** Runs all steps of work that yields between them. For work that is short, or cannot wait. */
export function runAtOnce<T>(steps: Iterator<unknown, T>): T {
  let next = steps.next()
  while (next.done !== true) next = steps.next()
  return next.value
}
