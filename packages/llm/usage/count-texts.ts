import { addWeights, MAX_PACKED_CHARS, PACKED_WEIGHTS, type WeightSums } from './character-weights.ts'

/** Characters that are counted in one step: a fifth of a millisecond. */
const STEP_CHARS = 65_536

/** The tokens of a text. */
export interface TextTokens {
  /** What estimateTokens returns. */
  readonly likely: number
  /** What estimateMaxTokens returns, of texts of any length. */
  readonly most: number
}

/** Counts the tokens of each text exactly, in steps: each text may be short, and all of them together megabytes. */
export function* countTexts(texts: readonly string[]): Generator<void, readonly TextTokens[]> {
  const counted: TextTokens[] = []
  let left = STEP_CHARS
  for (const text of texts) {
    const sums: WeightSums = { bytes: 0, sixteenths: 0 }
    for (let at = 0; at < text.length; ) {
      const end = Math.min(text.length, at + left)
      addWeights(text, at, end, PACKED_WEIGHTS, sums)
      left -= end - at
      at = end
      if (left > 0) continue
      left = STEP_CHARS
      yield
    }
    counted.push({ likely: Math.ceil(sums.bytes / 4), most: Math.ceil(sums.sixteenths / 16) })
    // What a text takes besides its characters. So a step has some hundred texts at most.
    left = Math.max(1, left - MAX_PACKED_CHARS)
  }
  return counted
}
