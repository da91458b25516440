import type { JsonObject } from '../../../json/json-value.ts'
import { toArray, toObject, toObjects } from '../../../json/json-value.ts'
import type { Target } from '../../../upstream/target.ts'
import type { HostedUse } from '../../../usage/usage.ts'
import { findPriceOfTool, priceUses } from '../../shared/tools/hosted-tools.ts'

/**
 * Counts the searches of an answer. Chunks of a stream may each have the queries since the last one or all so far, so each
 * query counts once over the chunks, and as often as one chunk has it.
 */
export class Grounding {
  readonly #target: Target
  readonly #queries = new Set<string>()
  #maxInChunk = 0
  #isGrounded = false

  constructor(target: Target) {
    this.#target = target
  }

  /** Adds a chunk. Returns true if it reports searches. */
  add(chunk: JsonObject): boolean {
    let queries = 0
    let isFound = false
    for (const candidate of toObjects(chunk.candidates)) {
      const metadata = toObject(candidate.groundingMetadata)
      if (metadata === undefined) continue
      // An empty query is no search.
      const queryTexts = toArray(metadata.webSearchQueries).filter(
        query => typeof query === 'string' && query !== '',
      )
      for (const query of queryTexts) this.#queries.add(query as string)
      queries += queryTexts.length
      if (queryTexts.length > 0 || toArray(metadata.groundingChunks).length > 0) isFound = true
    }
    this.#maxInChunk = Math.max(this.#maxInChunk, queries)
    if (isFound) this.#isGrounded = true
    return isFound
  }

  /** undefined: nothing was searched for. */
  price(): HostedUse | undefined {
    if (!this.#isGrounded) return undefined
    const queries = Math.max(this.#maxInChunk, this.#queries.size)
    // Older models charge for a grounded answer, whatever it names.
    const isByRequest = findPriceOfTool(this.#target, 'google_search')?.per === 'request'
    return priceUses({ google_search: isByRequest ? 1 : queries }, this.#target)
  }
}
