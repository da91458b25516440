import { FairCache } from '../../core/admission/fair-cache.ts'

/** Factor between the upper bounds of neighbouring slots. */
const GROWTH = 1.3
const SLOTS = 64
/** Fewer answers than this are not enough for an estimate. */
const MIN_ANSWERS = 20
/** The number of answers at which all counts are halved, so that newer answers weigh more. */
const HALVE_AT = 2_000
const MAX_KEYS = 20_000
const SHARE = 0.99

/** Output tokens that a key's answers by a model used so far. */
export interface LearnedOutput {
  /** 99 of 100 answers used no more. */
  readonly p99: number
  /** No answer used more. */
  readonly max: number
}

interface Seen {
  readonly counts: Uint32Array
  total: number
}

/** Histograms of answer lengths by key and model. Predicts how much of its output cap a request is likely to use. */
export class LearnedUse {
  readonly #seen = new FairCache<Seen>(MAX_KEYS)

  note(orgId: string, keyId: string | null, modelId: string, outputTokens: number): void {
    const name = `${keyId} ${modelId}`
    let seen = this.#seen.use(orgId, name)
    if (seen === undefined) {
      seen = { counts: new Uint32Array(SLOTS), total: 0 }
      this.#seen.set(orgId, name, seen)
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

  /** Returns undefined after too few answers. */
  find(keyId: string | null, modelId: string): LearnedOutput | undefined {
    const seen = this.#seen.find(`${keyId} ${modelId}`)
    if (seen === undefined || seen.total < MIN_ANSWERS) return undefined
    let remaining = seen.total * (1 - SHARE)
    let p99: number | undefined
    let max = 0
    for (let slot = SLOTS - 1; slot >= 0; slot--) {
      const count = seen.counts[slot] ?? 0
      if (count > 0 && max === 0) max = boundOf(slot)
      remaining -= count
      if (remaining < 0) {
        p99 = boundOf(slot)
        break
      }
    }
    return { p99: p99 ?? max, max }
  }
}

function slotOf(tokens: number): number {
  return tokens <= 1 ? 0 : Math.min(SLOTS - 1, Math.ceil(Math.log(tokens) / Math.log(GROWTH) - 1e-9))
}

/** Returns the upper bound of a slot, in tokens. */
function boundOf(slot: number): number {
  return Math.floor(GROWTH ** slot + 1e-6)
}
