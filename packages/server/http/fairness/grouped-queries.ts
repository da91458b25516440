export interface GroupedQueriesOptions<Item, Result> {
  /** Returns a result for each item, in their order. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>
  /** Items of one run, at most; one of a larger size runs alone. */
  readonly maxSize: number
  /** Default: 1 for each item. */
  readonly sizeOf?: (item: Item) => number
  /** Whose item it is: owners take turns. Absent: the items have one owner. */
  readonly ownerOf?: (item: Item) => string
  /** What the waiting items of one owner may have together, as `sizeOf` counts it. More is rejected at once. Default: any size. */
  readonly maxWaiting?: number
}

interface WaitingQuery<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** What waits for one owner. */
interface Line<Item, Result> {
  readonly queries: WaitingQuery<Item, Result>[]
  size: number
}

/** Runs at once at most. More would only make smaller groups. */
const MAX_RUNNING = 2

/**
 * Makes one statement of what many requests ask of the database at the same time. On a busy process each round trip takes
 * a tick of the event loop, so a statement for each request would have them wait for each other's connections. Each owner has an item in
 * a group before any has a second one, so that none waits for what another has queued.
 */
export class GroupedQueries<Item, Result> {
  readonly #options: GroupedQueriesOptions<Item, Result>
  /** By owner. Whose turn comes first stands first. */
  readonly #lines = new Map<string, Line<Item, Result>>()
  #running = 0
  #isScheduled = false

  constructor(options: GroupedQueriesOptions<Item, Result>) {
    this.#options = options
  }

  /** Rejects if its group fails, or if too much waits for its owner. */
  query(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (!this.#wait({ item, resolve, reject })) return reject(new Error('too much waits for the database'))
      if (this.#isScheduled) return
      this.#isScheduled = true
      // What else comes in this tick belongs to the group.
      setImmediate(() => {
        this.#isScheduled = false
        this.#start()
      })
    })
  }

  /** Returns false if too much waits for the owner. */
  #wait(query: WaitingQuery<Item, Result>): boolean {
    const { ownerOf, maxWaiting = Number.POSITIVE_INFINITY } = this.#options
    const owner = ownerOf?.(query.item) ?? ''
    const size = this.#sizeOf(query)
    const line = this.#lines.get(owner)
    if (line === undefined) this.#lines.set(owner, { queries: [query], size })
    else if (line.size + size > maxWaiting) return false
    else {
      line.queries.push(query)
      line.size += size
    }
    return true
  }

  #sizeOf({ item }: WaitingQuery<Item, Result>): number {
    return this.#options.sizeOf?.(item) ?? 1
  }

  #start(): void {
    while (this.#running < MAX_RUNNING && this.#lines.size > 0) void this.#run(this.#takeGroup())
  }

  #takeGroup(): readonly WaitingQuery<Item, Result>[] {
    const group: WaitingQuery<Item, Result>[] = []
    let size = 0
    for (let [next] = this.#lines; next !== undefined; [next] = this.#lines) {
      const [owner, line] = next
      const query = line.queries[0] as WaitingQuery<Item, Result>
      const ofQuery = this.#sizeOf(query)
      size += ofQuery
      if (group.length > 0 && size > this.#options.maxSize) break
      group.push(query)
      line.queries.shift()
      line.size -= ofQuery
      // Its next turn comes after those of all others.
      this.#lines.delete(owner)
      if (line.queries.length > 0) this.#lines.set(owner, line)
    }
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
