import { Fault } from '../../core/fault.ts'
import type { KeyRow } from '../../storage/schema.ts'

/** Throws 409 `resource_conflict` for a key that was revoked, has expired or was rolled: none of these can be undone. */
export function assertActiveKey(row: KeyRow, now: number): void {
  const reason = findReason(row, now)
  if (reason !== undefined)
    throw new Fault('resource_conflict', `The key ${reason}; it can no longer change.`)
}

function findReason({ revoked_at, rolled_to, expires_at }: KeyRow, now: number): string | undefined {
  if (revoked_at !== null) return 'was revoked'
  if (rolled_to !== null) return 'was rolled'
  return expires_at !== null && expires_at.getTime() <= now ? 'has expired' : undefined
}
