import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import { isDirect } from './reasoning-carrier.ts'

/**
 * Begins each signature that the sandbox makes in another maker's format. With the 24 digits after it, it is base64 that stays
 * the same where a client decodes and encodes it.
 */
export const SANDBOX_SIGNATURE = 'RideauSandboxSig'

const SANDBOX = 'sandbox'

/** Returns true if a caller sees the detail in its maker's own field. That includes the sandbox's, which stands for every maker. */
export function isShownReasoning(detail: ReasoningDetail): boolean {
  return isDirect(detail) || detail.via === SANDBOX
}

/**
 * The detail of a caller's message in its maker's own field. A signature of the sandbox goes back there alone: real
 * providers refuse it.
 */
export function markSandbox(detail: ReasoningDetail): ReasoningDetail {
  const signed = detail.signature ?? detail.data
  return signed?.startsWith(SANDBOX_SIGNATURE) === true ? { ...detail, via: SANDBOX } : detail
}
