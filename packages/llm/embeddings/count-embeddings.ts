import { countTexts, type TextTokens } from '../usage/count-texts.ts'
import type { EmbeddingRequest } from './embedding-format.ts'

/** Counts texts by their characters, in steps (countTexts), and lists of tokens by their length. */
export function* countEmbeddings({ input }: EmbeddingRequest): Generator<void, TextTokens> {
  let [likely, most] = [0, 0]
  for (const tokens of yield* countTexts(input.filter(isText))) {
    likely += Math.max(1, tokens.likely)
    most += Math.max(1, tokens.most)
  }
  for (const item of input) {
    if (isText(item)) continue
    likely += item.length
    most += item.length
  }
  return { likely, most }
}

function isText(item: string | readonly number[]): item is string {
  return typeof item === 'string'
}
