/**
 * A map of things that come and go by the thousand. A `Map` copies its table when too many of its entries were deleted, and in
 * V8 the table left behind leads to the next one: once the first is in old memory, each later one is kept until the next full
 * collection, with all that was in it when it was left. Here that is a key and an empty cell (decision 0011).
 */
export class ShortLivedMap<V extends object> {
  readonly #cells = new Map<string, { value: V | undefined }>()

  get size(): number {
    return this.#cells.size
  }

  get(key: string): V | undefined {
    return this.#cells.get(key)?.value
  }

  has(key: string): boolean {
    return this.#cells.has(key)
  }

  set(key: string, value: V): void {
    const cell = this.#cells.get(key)
    if (cell === undefined) this.#cells.set(key, { value })
    else cell.value = value
  }

  /** False where there was none. */
  delete(key: string): boolean {
    const cell = this.#cells.get(key)
    if (cell === undefined) return false
    cell.value = undefined
    return this.#cells.delete(key)
  }

  *entries(): IterableIterator<[string, V]> {
    for (const [key, { value }] of this.#cells) if (value !== undefined) yield [key, value]
  }
}
