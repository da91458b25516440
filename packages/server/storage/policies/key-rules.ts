import type { Db } from '../pool.ts'
import type { KeyRow } from '../schema.ts'

/** Moves the limits, quotas and budgets of a key to its replacement. They keep what they have counted. */
export async function moveKeyRules(
  tx: Db,
  old: Pick<KeyRow, 'org_id' | 'original_id'>,
  newId: string,
  now: Date,
): Promise<void> {
  for (const table of ['limits', 'quotas', 'budgets'] as const) {
    await tx
      .updateTable(table)
      .set({ scope_ref: newId, updated_at: now })
      .where('org_id', '=', old.org_id)
      .where('scope', '=', 'key')
      // Also those that were made for a key that was replaced before.
      .where('counted_ref', '=', old.original_id)
      .execute()
  }
}
