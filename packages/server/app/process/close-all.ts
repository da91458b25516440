/** Closes every part, the last one first. A part that fails does not keep the others open; the first error is thrown. */
export async function closeAll(closers: readonly (() => Promise<void> | void)[]): Promise<void> {
  const errors: unknown[] = []
  for (const close of [...closers].reverse()) {
    try {
      await close()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}
