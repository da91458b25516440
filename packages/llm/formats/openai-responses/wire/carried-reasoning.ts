import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import { CARRIER_MARK, packToolCallId, unpackToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { REASONING_FORMAT } from './decode-items.ts'

/**
 * Callers of this format send reasoning items back unchanged. The state of any provider is packed into their encrypted
 * content, as it is packed into the ids of tool calls in other formats.
 */
const NAME = 'carried'

/** The encrypted content of a reasoning item; undefined: there are no details, or too many to carry. */
export function packReasoning(details: readonly ReasoningDetail[]): string | undefined {
  const packed = packToolCallId(NAME, details)
  return packed === NAME ? undefined : packed
}

/** The details of an item's `encrypted_content`: state of another provider that the gateway packed, or of the provider itself. */
export function unpackReasoning(data: string, own: Pick<ReasoningDetail, 'id'>): readonly ReasoningDetail[] {
  if (isPacked(data)) return unpackToolCallId(data).details
  return [{ type: 'reasoning.encrypted', format: REASONING_FORMAT, data, ...own }]
}

export function isPacked(data: string): boolean {
  return data.startsWith(`${NAME}${CARRIER_MARK}`)
}
