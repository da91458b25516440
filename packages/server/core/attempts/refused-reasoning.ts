import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'

/** As OpenAI and Azure, which do not always send the code, and xAI say it. */
const NAMES_REASONING =
  /invalid_encrypted_content|\bencrypted[ _]content\b.{0,200}could not be verified|could not decrypt the provided encrypted_content|could not decode the compaction blob/i

/** Returns whether a provider refused a request because it cannot read the encrypted reasoning of earlier turns, as that of another account. */
export function isRefusedReasoning({ detail }: UpstreamError): boolean {
  return NAMES_REASONING.test(detail)
}
