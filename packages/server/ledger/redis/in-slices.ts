/** What waits for replies at the same time. The server must answer all of it within the timeout of one command. */
const SLICE_SIZE = 256

/** Sends all items, a slice of them at a time. Rejects with the first failure; what comes after its slice is not sent. */
export async function sendInSlices<T>(
  items: readonly T[],
  send: (item: T) => Promise<unknown>,
): Promise<void> {
  for (let first = 0; first < items.length; first += SLICE_SIZE) {
    await Promise.all(items.slice(first, first + SLICE_SIZE).map(send))
  }
}
