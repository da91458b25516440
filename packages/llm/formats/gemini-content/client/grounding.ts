import type { JsonObject } from '../../../json/json-value.ts'
import { toArray, toObject, toObjects } from '../../../json/json-value.ts'
import type { Target } from '../../../upstream/target.ts'
import type { HostedUse } from '../../../usage/usage.ts'
import { findPriceOfTool, priceUses } from '../../shared/tools/hosted-tools.ts'

/** Further queries of an answer are not told apart. No model makes as many searches. */
const MAX_QUERIES = 4_096
/** What a query takes besides its text, in bytes. */
const QUERY_BYTES = 64

/**
 * Counts the searches of an answer. Chunks of a stream may each have the queries since the last one or all so far, so each
 * query counts once over the chunks, and as often as one chunk has it.
 */
export class Grounding {
  readonly #target: Target
  readonly #queries = new Set<string>()
  #maxInChunk = 0
  #isGrounded = false
  /** The bytes of the queries. */
  size = 0

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
      for (const query of queryTexts) this.#keep(query as string)
      queries += queryTexts.length
      if (queryTexts.length > 0 || toArray(metadata.groundingChunks).length > 0) isFound = true
    }
    this.#maxInChunk = Math.max(this.#maxInChunk, queries)
    if (isFound) this.#isGrounded = true
    return isFound
  }

  #keep(query: string): void {
    if (this.#queries.size === MAX_QUERIES || this.#queries.has(query)) return
    this.#queries.add(query)
    this.size += query.length + QUERY_BYTES
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
