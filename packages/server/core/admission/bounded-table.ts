/** An entry of a BoundedTable. */
export interface TableEntry {
  readonly key: string
  /** True if the entry can be evicted without changing any decision. */
  isIdle(now: number): boolean
  /** Called after the table has evicted the entry. */
  onEvicted(): void
}

/** Entries that are looked at to find an idle one. A constant, so that no insertion takes long. */
const LOOKS = 8

/**
 * A map of at most `max` entries that evicts idle entries only, and only when it needs their place. An attacker with
 * any number of addresses or tokens can therefore neither grow it nor make it forget that a caller is limited.
 */
export class BoundedTable<E extends TableEntry> {
  readonly #max: number
  readonly #entries = new Map<string, E>()
  /** The entries as a list, in which a search continues where the last one ended. */
  readonly #slots: E[] = []
  #hand = 0

  constructor(max: number) {
    this.#max = max
  }

  get size(): number {
    return this.#slots.length
  }

  find(key: string): E | undefined {
    return this.#entries.get(key)
  }

  /** Adds an entry with a new key. Returns false if the table is full of entries that are not idle. */
  add(entry: E, now: number): boolean {
    if (this.#slots.length < this.#max) {
      this.#slots.push(entry)
      this.#entries.set(entry.key, entry)
      return true
    }
    for (let look = 0; look < LOOKS; look++) {
      const slot = this.#hand
      this.#hand = slot + 1 === this.#slots.length ? 0 : slot + 1
      const found = this.#slots[slot] as E
      if (!found.isIdle(now)) continue
      this.#entries.delete(found.key)
      found.onEvicted()
      this.#slots[slot] = entry
      this.#entries.set(entry.key, entry)
      return true
    }
    return false
  }
}
