import type { AliasTarget } from '../../core/tenancy/tenancy.ts'

/** Timeout of one attempt of a chat in milliseconds if neither its caller nor its alias names one. */
const DEFAULT_TIMEOUT_MS = 300_000

/** Returns the timeout of an attempt in milliseconds: the caller's, at most as long as that of the alias's target. */
export function chooseTimeout(
  requestedMs: number | undefined,
  target: Pick<AliasTarget, 'timeoutMs'> | undefined,
): number {
  const max = target?.timeoutMs ?? requestedMs ?? DEFAULT_TIMEOUT_MS
  return Math.min(requestedMs ?? max, max)
}
