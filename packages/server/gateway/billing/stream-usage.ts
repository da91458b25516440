import type { Usage } from '@rideau/llm/usage/usage'
import { outputTokens } from '@rideau/llm/usage/usage-sums'

/**
 * What a stream reports of its usage. Reports are totals, so of two the one with more output counts, and a report that further
 * output follows is that of a part.
 */
export class StreamUsage {
  #reported: Usage | undefined
  #isPart = false
  /** True once the stream has had output that a caller sees. */
  hasVisibleOutput = false

  report(usage: Usage): void {
    const earlier = this.#reported
    const isLess = earlier !== undefined && outputTokens(usage) < outputTokens(earlier)
    this.#reported = isLess ? withLater(earlier, usage) : usage
    this.#isPart = false
  }

  /** Notes that output came after what was reported so far. */
  noteVisibleOutput(): void {
    this.hasVisibleOutput = true
    this.#isPart = this.#reported !== undefined
  }

  get isReported(): boolean {
    return this.#reported !== undefined
  }

  /** undefined: none was reported, or it was that of a part. */
  get whole(): Usage | undefined {
    return this.#isPart ? undefined : this.#reported
  }

  /** What was reported before the last output. */
  get part(): Usage | undefined {
    return this.#isPart ? this.#reported : undefined
  }
}

/** Uses of tools are counted by the decoder, so later ones are right. */
function withLater(usage: Usage, { hosted }: Usage): Usage {
  return hosted === undefined ? usage : { ...usage, hosted }
}
