import type { Db } from '../pool.ts'

/**
 * Removes the provider credentials and device settings of deleted projects, and those, the webhooks and the kept answers to
 * creates of deleted organizations. They contain the owner's secrets, and after the deletion no operation reads or removes them.
 */
export async function removeDeletedSecrets(db: Db): Promise<void> {
  const organizations = db.selectFrom('organizations').select('id').where('deleted_at', 'is not', null)
  const projects = db
    .selectFrom('projects')
    .select('id')
    .where(eb => eb.or([eb('deleted_at', 'is not', null), eb('org_id', 'in', organizations)]))
  await db.deleteFrom('provider_credentials').where('project_id', 'in', projects).execute()
  await db.deleteFrom('device_auth').where('project_id', 'in', projects).execute()
  await db.deleteFrom('webhooks').where('org_id', 'in', organizations).execute()
  await db.deleteFrom('idempotent_creates').where('org_id', 'in', organizations).execute()
}
