import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'

/**
 * Returns the blocks of an answer of Claude's, with its thinking back at the block index that it came from, because its signatures
 * are valid only there. `rest`: all other blocks. `encode` returns undefined for a detail that has no block.
 */
export function weaveThinking<Block>(
  details: readonly ReasoningDetail[],
  rest: readonly Block[],
  encode: (detail: ReasoningDetail) => Block | undefined,
): Block[] {
  // The provider refuses a turn that has nothing but thinking.
  if (rest.length === 0) return []
  const blocks: Block[] = []
  let taken = 0
  for (const detail of details) {
    const block = encode(detail)
    if (block === undefined) continue
    // Behind the thinking before it, whatever its index is.
    const index = Math.trunc(detail.index ?? 0)
    while (taken < rest.length && blocks.length < index) blocks.push(rest[taken++] as Block)
    blocks.push(block)
  }
  while (taken < rest.length) blocks.push(rest[taken++] as Block)
  return blocks
}
