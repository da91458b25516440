/** The part of the memory for records from which on their bodies are shared out. */
const CROWDED_AT = 1 / 4
/** The part that an organization may take in any case. */
const LEAST_SHARE = 1 / 64

export interface BodySharesOptions {
  /** The most characters of records in memory. */
  readonly maxChars: number
  /** Returns the characters of the records in memory. */
  readonly countChars: () => number
  /** Returns true while records wait that are not in memory. */
  readonly hasUnread: () => boolean
}

/**
 * Which organizations leave no more bodies while records come faster than the database stores them. Bodies are most of a record, and
 * records that overflow the memory delay those of everybody: so who writes the most keeps its records, but not their bodies.
 */
export class BodyShares {
  readonly #options: BodySharesOptions
  /** The characters that each organization wrote to the crowded memory, and of all. What it wrote long ago counts less. */
  readonly #written = new Map<string, number>()
  #total = 0

  constructor(options: BodySharesOptions) {
    this.#options = options
  }

  /**
   * True if the organization wrote as much to the crowded memory as is left for all. What is left shrinks by halves, so the next
   * organization always finds some.
   */
  isUsedUp(orgId: string): boolean {
    const written = this.#written.get(orgId)
    if (written === undefined || !this.#isCrowded()) return false
    const { maxChars, countChars } = this.#options
    return written >= Math.max(maxChars - countChars(), maxChars * LEAST_SHARE)
  }

  /** Notes the length of a record. */
  note(orgId: string, chars: number): void {
    if (this.#isCrowded()) {
      this.#written.set(orgId, (this.#written.get(orgId) ?? 0) + chars)
      this.#total += chars
      if (this.#total >= this.#options.maxChars) this.#halve()
    } else if (this.#total > 0) {
      this.#written.clear()
      this.#total = 0
    }
  }

  /** A flood may last for hours. Who writes little meanwhile must not come to as much as it wrote in minutes. */
  #halve(): void {
    this.#total = 0
    for (const [orgId, chars] of this.#written) {
      const half = Math.floor(chars / 2)
      this.#total += half
      if (half > 0) this.#written.set(orgId, half)
      else this.#written.delete(orgId)
    }
  }

  #isCrowded(): boolean {
    const { maxChars, countChars, hasUnread } = this.#options
    return countChars() >= maxChars * CROWDED_AT || hasUnread()
  }
}
