import { sql } from 'kysely'
import { refreshDelayMs } from '../../core/models/refresh-schedule.ts'
import type { QueueRoom } from '../../core/queue-room.ts'
import type { Db } from '../pool.ts'
import { type DueOwners, type Queue, selectInTurns } from '../queue-turns.ts'
import type { ProviderCredentialRow } from './provider-credentials.ts'

export const REFRESHES: Queue = { table: 'provider_credentials', dueAt: 'refresh_at' }

/**
 * Claims credentials whose provider's list of models is due, and returns them. Organizations take turns, those whose
 * providers are slow after the others. No other process gets a claimed credential for `leaseMs`, in case this process dies.
 * Those of deleted projects are never due again. `owners`: of REFRESHES.
 */
export async function claimDueRefreshes(
  db: Db,
  now: number,
  room: QueueRoom,
  leaseMs: number,
  owners: DueOwners,
): Promise<ProviderCredentialRow[]> {
  const organizations = await owners.list(db, now)
  if (organizations.length === 0) return []
  const { rows } = await sql<ProviderCredentialRow & { is_alive: boolean }>`
    with due as (${selectInTurns(REFRESHES, organizations, new Date(now), room)})
    update provider_credentials c set
      refresh_at = case when p.deleted_at is null and o.deleted_at is null
        then ${new Date(now + leaseMs)}::timestamptz end
    from due, projects p, organizations o
    where c.id = due.id and p.id = c.project_id and o.id = c.org_id
    returning c.*, p.deleted_at is null and o.deleted_at is null as is_alive`.execute(db)
  return rows.filter(row => row.is_alive)
}

/** Stores that a claimed request for the list failed, and when the next one is due. */
export async function updateFailedRefresh(
  db: Db,
  { id, updated_at, refresh_failures }: ProviderCredentialRow,
  at: Date,
): Promise<void> {
  const failures = refresh_failures + 1
  await db
    .updateTable('provider_credentials')
    .set({
      refresh_failures: failures,
      refresh_at: new Date(at.getTime() + refreshDelayMs(failures)),
    })
    .where('id', '=', id)
    // A credential that was changed since is due at once.
    .where('updated_at', '=', updated_at)
    .execute()
}
