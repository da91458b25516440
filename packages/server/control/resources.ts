import { type Actor, organizationsOf } from '../core/permissions.ts'
import { findEnvironment } from '../storage/environments.ts'
import { findKey } from '../storage/keys.ts'
import { findOrganization } from '../storage/organizations.ts'
import type { Db } from '../storage/pool.ts'
import { findProject } from '../storage/projects.ts'
import { findProviderCredential, type StoredCredential } from '../storage/provider-credentials.ts'
import { findRequestLog, type StoredLog } from '../storage/request-log-list.ts'
import type { EnvironmentRow, KeyRow, OrganizationRow, ProjectRow } from '../storage/schema.ts'

/** What a path can name, as stored. */
export interface Resources {
  readonly org: OrganizationRow
  readonly project: ProjectRow
  readonly environment: EnvironmentRow
  readonly key: KeyRow
  readonly provider_credential: StoredCredential
  readonly log: StoredLog
}

export type ResourceKind = keyof Resources

export interface FoundResource {
  readonly orgId: string
  readonly row: Resources[ResourceKind]
}

/** The resource and the organization that it belongs to; undefined where it is missing or lies below a deleted one. */
export async function findResource(
  db: Db,
  kind: ResourceKind,
  id: string,
  actor: Actor,
): Promise<FoundResource | undefined> {
  if (kind === 'org') {
    const row = await findOrganization(db, id)
    return row === undefined ? undefined : { orgId: row.id, row }
  }
  const row = await find[kind](db, id, actor)
  return row === undefined ? undefined : { orgId: row.org_id, row }
}

const find = {
  project: findProject,
  environment: findEnvironment,
  key: findKey,
  provider_credential: findProviderCredential,
  log: (db: Db, id: string, actor: Actor) => findRequestLog(db, id, organizationsOf(actor)),
}
