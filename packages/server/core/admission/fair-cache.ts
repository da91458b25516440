import { Holder, HolderHeap } from './holder-heap.ts'

/** For each entry that there is room for, so many owners may hold one. */
const HOLDERS = 4

interface Entry<Value> {
  value: Value
  /** The owner that added it, for most entries the only one that holds it. */
  readonly owner: string
  /** How many owners hold it. */
  holders: number
}

/**
 * A map of at most `max` entries for a whole process. Whoever uses an entry, an organization mostly, holds it. Where there is no
 * room, the owner that holds the most gives up what it used least recently, so that one with many entries pushes out its own
 * only. An entry is forgotten once no owner holds it. An operation takes hardly longer with many owners than with few.
 */
export class FairCache<Value> {
  readonly #max: number
  readonly #onForgotten: ((key: string, value: Value) => void) | undefined
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #holders = new Map<string, Holder>()
  readonly #heap = new HolderHeap()
  /** The uses of all owners so far. */
  #uses = 0
  /** How many keys all owners hold together. */
  #holds = 0

  /** `onForgotten`: called with each entry for which there is no room any more, after it is gone. */
  constructor(max: number, onForgotten?: (key: string, value: Value) => void) {
    this.#max = max
    this.#onForgotten = onForgotten
  }

  get size(): number {
    return this.#entries.size
  }

  /** Returns a value without holding it. */
  find(key: string): Value | undefined {
    return this.#entries.get(key)?.value
  }

  /** Returns a value, which the owner holds from now on. */
  use(owner: string, key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry !== undefined) this.#hold(owner, key, entry)
    return entry?.value
  }

  /** Adds or replaces a value, which the owner holds from now on. */
  set(owner: string, key: string, value: Value): void {
    const known = this.#entries.get(key)
    if (known !== undefined) {
      known.value = value
      this.#hold(owner, key, known)
      return
    }
    const entry = { value, owner, holders: 0 }
    this.#entries.set(key, entry)
    this.#hold(owner, key, entry)
  }

  /** Forgets an entry, whoever holds it. Looks at all owners if another than the one that added it does. */
  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    if (this.#giveUp(entry.owner, key)) entry.holders--
    if (entry.holders === 0) return
    for (const owner of this.#holders.keys()) this.#giveUp(owner, key)
  }

  clear(): void {
    this.#entries.clear()
    this.#holders.clear()
    this.#heap.clear()
    this.#holds = 0
  }

  #hold(owner: string, key: string, entry: Entry<Value>): void {
    const holder = this.#holders.get(owner) ?? this.#open(owner)
    holder.usedAt = ++this.#uses
    if (!holder.keys.delete(key)) {
      entry.holders++
      this.#holds++
    }
    holder.keys.add(key)
    this.#heap.put(holder)
    while (this.#entries.size > this.#max || this.#holds > this.#max * HOLDERS) this.#giveUpOne()
  }

  #open(owner: string): Holder {
    const holder = new Holder(owner)
    this.#holders.set(owner, holder)
    return holder
  }

  #giveUpOne(): void {
    const most = this.#heap.first
    if (most === undefined) return
    const [key = ''] = most.keys
    this.#giveUp(most.owner, key)
    const entry = this.#entries.get(key)
    if (entry === undefined || --entry.holders > 0) return
    this.#entries.delete(key)
    this.#onForgotten?.(key, entry.value)
  }

  /** Returns false if the owner does not hold the key. */
  #giveUp(owner: string, key: string): boolean {
    const holder = this.#holders.get(owner)
    if (holder?.keys.delete(key) !== true) return false
    this.#holds--
    if (holder.keys.size > 0) this.#heap.put(holder)
    else {
      this.#holders.delete(owner)
      this.#heap.remove(holder)
    }
    return true
  }
}
