/** A drain ends once the items of so many owners failed, for example while the database is away. */
const MAX_FAILED = 8

export interface OwnerLinesOptions<Item> {
  /** Items of one owner, and of all, that wait at once. */
  readonly maxOfOne: number
  readonly max: number
  /** Returns what waits instead of two items with one key. */
  readonly merge: (earlier: Item, later: Item) => Item
}

/**
 * What waits in memory until a job handles it: a line for each owner, an organization mostly. Lines have turns, so that one owner's items
 * delay no other's for longer than one of them takes, whether they are many or fail.
 */
export class OwnerLines<Item> {
  readonly #options: OwnerLinesOptions<Item>
  /** The items by owner and key, each owner whose turn comes first before the others. No line is empty. */
  readonly #lines = new Map<string, Map<string, Item>>()
  #size = 0

  constructor(options: OwnerLinesOptions<Item>) {
    this.#options = options
  }

  get size(): number {
    return this.#size
  }

  /** Adds an item, or merges it with the one of its key. Returns false, and drops it, if too many wait. */
  add(owner: string, key: string, item: Item): boolean {
    const { max, maxOfOne, merge } = this.#options
    const line = this.#lines.get(owner)
    const earlier = line?.get(key)
    if (earlier === undefined && ((line?.size ?? 0) >= maxOfOne || this.#size >= max)) return false
    this.#put(owner, key, earlier === undefined ? item : merge(earlier, item))
    return true
  }

  /**
   * Handles one item after the other until none is left. If handling one rejects, it goes behind the others of its owner, whose line then
   * waits for the next drain. `onFailure` is called for each such item once it waits again; it must not throw.
   */
  async drain(
    handle: (item: Item) => Promise<unknown>,
    onFailure: (error: unknown, owner: string) => void,
  ): Promise<void> {
    const failed = new Set<string>()
    for (let next = this.#take(failed); next !== undefined; next = this.#take(failed)) {
      const { owner, key, item } = next
      try {
        await handle(item)
      } catch (error) {
        const later = this.#lines.get(owner)?.get(key)
        this.#put(owner, key, later === undefined ? item : this.#options.merge(item, later))
        onFailure(error, owner)
        if (failed.add(owner).size >= MAX_FAILED) return
      }
    }
  }

  #put(owner: string, key: string, item: Item): void {
    const line = this.#lines.get(owner) ?? new Map<string, Item>()
    if (!line.has(key)) this.#size++
    this.#lines.set(owner, line.set(key, item))
  }

  /** Removes and returns the first item of the next owner that is not passed over. */
  #take(passedOver: ReadonlySet<string>): { owner: string; key: string; item: Item } | undefined {
    for (const [owner, line] of this.#lines) {
      if (passedOver.has(owner)) continue
      const [first] = line
      if (first === undefined) continue
      const [key, item] = first
      line.delete(key)
      this.#size--
      this.#lines.delete(owner)
      if (line.size > 0) this.#lines.set(owner, line)
      return { owner, key, item }
    }
    return undefined
  }
}
