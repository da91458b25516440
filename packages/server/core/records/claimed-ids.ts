/** How many ids are remembered at least; twice as many at most, in some 15 MB. */
const REMEMBERED = 50_000

/** Remembers the newest ids that callers chose, so that none is used twice before it is in the log. */
export class ClaimedIds {
  readonly #remembered: number
  #newer = new Set<string>()
  #older = new Set<string>()

  constructor(remembered = REMEMBERED) {
    this.#remembered = remembered
  }

  /** Returns false if the id was claimed before. */
  claim(environmentId: string, id: string): boolean {
    const key = `${environmentId} ${id}`
    if (this.#newer.has(key) || this.#older.has(key)) return false
    if (this.#newer.size >= this.#remembered) {
      this.#older = this.#newer
      this.#newer = new Set()
    }
    this.#newer.add(key)
    return true
  }
}
