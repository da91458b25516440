export interface GroupedQueriesOptions<Item, Result> {
  /** Returns a result for each item, in their order. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>
  /** Items of one run, at most; one of a larger size runs alone. */
  readonly maxSize: number
  readonly sizeOf?: (item: Item) => number
}

interface WaitingQuery<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** Runs at once at most. More would only make smaller groups. */
const MAX_RUNNING = 2

/**
 * Makes one statement of what many requests ask of the database at the same time. On a busy process each round trip takes
 * a tick of the event loop, so a statement for each request would have them wait for each other's connections.
 */
export class GroupedQueries<Item, Result> {
  readonly #options: GroupedQueriesOptions<Item, Result>
  #waiting: WaitingQuery<Item, Result>[] = []
  #running = 0
  #isScheduled = false

  constructor(options: GroupedQueriesOptions<Item, Result>) {
    this.#options = options
  }

  /** Rejects if its group fails. */
  query(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (this.#isScheduled) return
      this.#isScheduled = true
      // What else comes in this tick belongs to the group.
      setImmediate(() => {
        this.#isScheduled = false
        this.#start()
      })
    })
  }

  #start(): void {
    while (this.#running < MAX_RUNNING && this.#waiting.length > 0) void this.#run(this.#takeGroup())
  }

  #takeGroup(): readonly WaitingQuery<Item, Result>[] {
    const { maxSize, sizeOf } = this.#options
    let [count, size] = [0, 0]
    for (const { item } of this.#waiting) {
      size += sizeOf?.(item) ?? 1
      if (count > 0 && size > maxSize) break
      count++
    }
    const group = this.#waiting.slice(0, count)
    this.#waiting = this.#waiting.slice(count)
    return group
  }

  async #run(group: readonly WaitingQuery<Item, Result>[]): Promise<void> {
    this.#running++
    try {
      const results = await this.#options.run(group.map(({ item }) => item))
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as Result)
    } catch (error) {
      for (const { reject } of group) reject(error)
    } finally {
      this.#running--
      this.#start()
    }
  }
}
