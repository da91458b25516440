/**
 * A map for thousands of entries that are deleted soon. A `Map` copies its table when many entries were deleted. In V8 each
 * old table refers to the next one, so once the first is in the old generation, every later table and its contents are kept
 * until the next full collection. Here such a table holds keys and empty cells only
 * (docs/decisions/0011-cost-of-a-request.md).
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

  /** Returns false if there was no such entry. */
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
