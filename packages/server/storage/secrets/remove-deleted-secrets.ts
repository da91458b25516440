import { sql } from 'kysely'
import { runAll } from '../../core/run-all.ts'
import type { Db } from '../pool.ts'
import { removeInBatches } from '../remove-in-batches.ts'

const ORGANIZATIONS = sql`select id from organizations where deleted_at is not null`
const PROJECTS = sql`select p.id from projects p join organizations o on o.id = p.org_id
  where p.deleted_at is not null or o.deleted_at is not null`

const OF_PROJECTS = sql<boolean>`project_id in (${PROJECTS})`
const OF_ORGANIZATIONS = sql<boolean>`org_id in (${ORGANIZATIONS})`

/** The deliveries of a webhook go before it: its own removal would take all of them in one statement. */
const REMOVALS = [
  ['provider_credentials', OF_PROJECTS],
  ['device_auth', OF_PROJECTS],
  [
    'webhook_deliveries',
    sql<boolean>`webhook_id in (select id from webhooks where org_id in (${ORGANIZATIONS}))`,
  ],
  ['webhooks', OF_ORGANIZATIONS],
  ['idempotent_creates', OF_ORGANIZATIONS],
] as const

/**
 * Removes the provider credentials and device settings of deleted projects, and those, the webhooks and the kept answers to
 * creates of deleted organizations. They contain the owner's secrets, and after the deletion no operation reads or removes them.
 * Removes the others though some cannot be removed, and throws then. The signal stops it before the next batch.
 */
export async function removeDeletedSecrets(db: Db, signal?: AbortSignal): Promise<void> {
  await runAll(
    REMOVALS.map(
      ([table, where]) =>
        () =>
          removeInBatches(db, table, where, signal),
    ),
  )
}
