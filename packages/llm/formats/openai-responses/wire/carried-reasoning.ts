import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import { CARRIER_MARK, packToolCallId, unpackToolCallId } from '../../shared/reasoning-carrier.ts'
import { REASONING_FORMAT } from './read-items.ts'

/**
 * Callers of this format send reasoning items back as they got them, encrypted: there the state of any provider travels,
 * as it does in the ids of tool calls elsewhere.
 */
const NAME = 'carried'

/** undefined: there is none, or more than can be carried. */
export function packReasoning(details: readonly ReasoningDetail[]): string | undefined {
  const packed = packToolCallId(NAME, details)
  return packed === NAME ? undefined : packed
}

/** What an item's `encrypted_content` holds: another provider's state that we packed, or what this format's own made. */
export function unpackReasoning(data: string, own: Pick<ReasoningDetail, 'id'>): readonly ReasoningDetail[] {
  if (isPacked(data)) return unpackToolCallId(data).details
  return [{ type: 'reasoning.encrypted', format: REASONING_FORMAT, data, ...own }]
}

export function isPacked(data: string): boolean {
  return data.startsWith(`${NAME}${CARRIER_MARK}`)
}
