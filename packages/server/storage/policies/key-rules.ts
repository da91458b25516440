import type { Db } from '../pool.ts'
import type { KeyRow } from '../schema.ts'

/** Lets the limits, quotas and budgets of a key name the key that replaces it. They keep what they have counted. */
export async function moveKeyRules(
  tx: Db,
  old: Pick<KeyRow, 'id' | 'org_id'>,
  newId: string,
  now: Date,
): Promise<void> {
  for (const table of ['limits', 'quotas', 'budgets'] as const) {
    await tx
      .updateTable(table)
      .set({ scope_ref: newId, updated_at: now })
      .where('org_id', '=', old.org_id)
      .where('scope', '=', 'key')
      .where('scope_ref', '=', old.id)
      .execute()
  }
}
