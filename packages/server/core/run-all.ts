/** Runs the steps one after the other, each though others fail. Throws an `AggregateError` of all failures. */
export async function runAll(steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  const reasons: unknown[] = []
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      reasons.push(error)
    }
  }
  if (reasons.length > 0) throw new AggregateError(reasons, reasons.join('; '))
}
