/** Bounds of the slots grow by this factor. */
const GROWTH = 1.3
const SLOTS = 64
/** Fewer answers than this teach nothing. */
const ENOUGH = 20
/** Then what was learned counts half, so that what changes is learned anew. */
const HALVE_AT = 2_000
const MAX_KEYS = 20_000
const USUAL = 0.99

/** What answers to a key by a model were known to use, in output tokens. */
export interface Learned {
  /** 99 of 100 answers use no more. */
  readonly usual: number
  /** No answer used more. */
  readonly most: number
}

/** How long answers are, by key and model: what a request is likely to use of its output cap. */
export class LearnedUse {
  readonly #seen = new Map<string, { counts: Uint32Array; total: number }>()

  note(keyId: string | null, modelId: string, outputTokens: number): void {
    const name = `${keyId} ${modelId}`
    let seen = this.#seen.get(name)
    if (seen === undefined) {
      seen = { counts: new Uint32Array(SLOTS), total: 0 }
      const oldest = this.#seen.size < MAX_KEYS ? undefined : this.#seen.keys().next().value
      if (oldest !== undefined) this.#seen.delete(oldest)
      this.#seen.set(name, seen)
    }
    const slot = slotOf(outputTokens)
    seen.counts[slot] = (seen.counts[slot] ?? 0) + 1
    if (++seen.total < HALVE_AT) return
    seen.total = 0
    seen.counts.forEach((count, index, counts) => {
      counts[index] = count >> 1
      seen.total += count >> 1
    })
  }

  /** undefined: too few answers were seen. */
  find(keyId: string | null, modelId: string): Learned | undefined {
    const seen = this.#seen.get(`${keyId} ${modelId}`)
    if (seen === undefined || seen.total < ENOUGH) return undefined
    let left = seen.total * (1 - USUAL)
    let usual: number | undefined
    let most = 0
    for (let slot = SLOTS - 1; slot >= 0; slot--) {
      const count = seen.counts[slot] ?? 0
      if (count > 0 && most === 0) most = boundOf(slot)
      left -= count
      if (left < 0) {
        usual = boundOf(slot)
        break
      }
    }
    return { usual: usual ?? most, most }
  }
}

function slotOf(tokens: number): number {
  return tokens <= 1 ? 0 : Math.min(SLOTS - 1, Math.ceil(Math.log(tokens) / Math.log(GROWTH) - 1e-9))
}

/** The most that falls into a slot. */
function boundOf(slot: number): number {
  return Math.floor(GROWTH ** slot + 1e-6)
}
