import { MAX_ROLLING_ENTRIES, rollingSlotMs } from '../../core/rolling-resolution.ts'

/** What one request added to a rolling counter. */
export interface RollingEntry {
  /** Unix milliseconds. */
  readonly at: number
  amount: number
  /** The request is running. */
  isReserved: boolean
  /** The entry has left the window and is not counted any more. */
  isExpired: boolean
  block: Block
}

/** Neighbours among the entries that count. */
interface Block {
  count: number
  /** The amounts of the entries together. */
  sum: number
}

/**
 * A new block begins above so many entries: about the root of MAX_ROLLING_ENTRIES, so that a search looks at as many blocks as entries.
 * Late entries join the block of their neighbour, up to twice as many.
 */
const BLOCK_ENTRIES = 128

/**
 * Counts exactly what was admitted within the last `windowMs`. Entries are ordered by admission. Above MAX_ROLLING_ENTRIES, or
 * fewer where all counters together have too many, settled entries of the same slot are merged into the latest of them (see
 * rolling-resolution.ts).
 */
export class RollingCounter {
  readonly kind = 'rolling'
  settled = 0
  reserved = 0
  readonly #windowMs: number
  #entries: RollingEntry[] = []
  /** Index of the oldest entry that counts. */
  #head = 0
  /** From `#headBlock` on: of the entries from `#head` on, in their order. */
  #blocks: Block[] = []
  #headBlock = 0
  /** The entries above which settled ones of the same slot are merged, and the number of slots. */
  #most = MAX_ROLLING_ENTRIES
  #mergeAbove = MAX_ROLLING_ENTRIES

  constructor(windowMs: number) {
    this.#windowMs = windowMs
  }

  get entryCount(): number {
    return this.#entries.length - this.#head
  }

  /** Keeps about so many entries from now on; by default and at most MAX_ROLLING_ENTRIES. */
  keepAtMost(entries: number): void {
    if (entries === this.#most) return
    this.#most = entries
    this.#compact()
  }

  /** Expires the entries that have left the window. Call it before the sums are read. */
  expireEntries(now: number): void {
    const past = now - this.#windowMs
    for (;;) {
      const entry = this.#entries[this.#head]
      if (entry === undefined || entry.at > past) break
      this.#head++
      entry.isExpired = true
      entry.block.sum -= entry.amount
      if (--entry.block.count === 0) this.#headBlock++
      if (entry.isReserved) this.reserved -= entry.amount
      else this.settled -= entry.amount
    }
    if (this.#head > 64 && this.#head * 2 > this.#entries.length) this.#compact()
  }

  /** Adds the entry of a request. If the clock went backwards the entry gets the time of the latest one, and so counts longer. */
  reserve(at: number, amount: number): RollingEntry {
    const latest = this.#entries.at(-1)?.at ?? at
    const block = this.#lastBlock()
    const entry = { at: Math.max(at, latest), amount, isReserved: true, isExpired: false, block }
    addTo(block, amount)
    this.#entries.push(entry)
    this.reserved += amount
    return entry
  }

  adjust(entry: RollingEntry, delta: number): void {
    entry.amount += delta
    if (entry.isExpired) return
    entry.block.sum += delta
    if (entry.isReserved) this.reserved += delta
    else this.settled += delta
  }

  /** Moves the amount of an entry from reserved to settled. Its time of admission stays. */
  settle(entry: RollingEntry): void {
    if (!entry.isReserved) return
    entry.isReserved = false
    if (entry.isExpired) return
    this.reserved -= entry.amount
    this.settled += entry.amount
    if (this.#entries.length > this.#mergeAbove) this.#compact()
  }

  /** Moves the amount of an entry back from settled to reserved. */
  unsettle(entry: RollingEntry): void {
    if (entry.isReserved) return
    entry.isReserved = true
    if (entry.isExpired) return
    this.settled -= entry.amount
    this.reserved += entry.amount
  }

  /** Adds settled usage of any time: of a seed, or of a request that was admitted before this counter existed. */
  insert(at: number, amount: number): void {
    let index = this.#entries.length
    while (index > this.#head && (this.#entries[index - 1] as RollingEntry).at > at) index--
    const block =
      index === this.#entries.length ? this.#lastBlock() : (this.#entries[index] as RollingEntry).block
    this.#entries.splice(index, 0, { at, amount, isReserved: false, isExpired: false, block })
    addTo(block, amount)
    this.settled += amount
    if (block.count > BLOCK_ENTRIES * 2) this.#divide()
    if (this.#entries.length > this.#mergeAbove) this.#compact()
  }

  /** Returns the time of the oldest entry that counts; null: none. */
  oldestAt(): number | null {
    return this.#entries[this.#head]?.at ?? null
  }

  /** Returns the time of the entry with whose expiry `amount` will have expired; null: less than that is counted. */
  findBlockingAt(amount: number): number | null {
    let sum = 0
    let index = this.#head
    for (let place = this.#headBlock; place < this.#blocks.length; place++) {
      const block = this.#blocks[place] as Block
      if (sum + block.sum < amount) {
        sum += block.sum
        index += block.count
        continue
      }
      for (const end = index + block.count; index < end; index++) {
        const entry = this.#entries[index] as RollingEntry
        sum += entry.amount
        if (sum >= amount) return entry.at
      }
    }
    return null
  }

  /** Returns the block of an entry that becomes the last one. */
  #lastBlock(): Block {
    const last = this.#blocks.at(-1)
    if (last !== undefined && last.count > 0 && last.count < BLOCK_ENTRIES) return last
    const block = { count: 0, sum: 0 }
    this.#blocks.push(block)
    return block
  }

  /** Divides the entries that count into new blocks. */
  #divide(): void {
    this.#blocks = []
    this.#headBlock = 0
    for (let index = this.#head; index < this.#entries.length; index++) {
      const entry = this.#entries[index] as RollingEntry
      entry.block = this.#lastBlock()
      addTo(entry.block, entry.amount)
    }
  }

  #compact(): void {
    const live = this.#entries.slice(this.#head)
    this.#head = 0
    this.#entries = live
    this.#blocks = this.#blocks.slice(this.#headBlock)
    this.#headBlock = 0
    if (live.length > this.#most) {
      this.#entries = merge(live, rollingSlotMs(this.#windowMs, this.#most))
      this.#divide()
    }
    // Reserved entries cannot be merged. Waiting until the list has doubled bounds the cost of trying.
    this.#mergeAbove = Math.max(this.#most, this.#entries.length) * 2
  }
}

function addTo(block: Block, amount: number): void {
  block.count++
  block.sum += amount
}

/** Merges settled neighbours of one slot into the later one. The earlier is marked expired: its request changes nothing by it. */
function merge(entries: readonly RollingEntry[], slotMs: number): RollingEntry[] {
  const merged: RollingEntry[] = []
  for (const entry of entries) {
    const last = merged.at(-1)
    const isSameSlot = last !== undefined && Math.floor(last.at / slotMs) === Math.floor(entry.at / slotMs)
    if (isSameSlot && !last.isReserved && !entry.isReserved) {
      entry.amount += last.amount
      last.isExpired = true
      merged[merged.length - 1] = entry
    } else merged.push(entry)
  }
  return merged
}
