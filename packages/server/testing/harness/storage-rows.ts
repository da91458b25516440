import { createHash } from 'node:crypto'
import { systemClock } from '../../core/clock.ts'
import { openIds } from '../../core/ids.ts'
import { systemRandom } from '../../core/random.ts'
import { insertEndUser } from '../../storage/end-users/end-users.ts'
import { insertKey } from '../../storage/keys/keys.ts'
import { insertManagementKey } from '../../storage/keys/management-keys.ts'
import {
  insertProviderCredential,
  type NewProviderCredentialRow,
  type ProviderCredentialRow,
} from '../../storage/models/provider-credentials.ts'
import type { Db } from '../../storage/pool.ts'
import type {
  EnvironmentRow,
  KeyRow,
  ManagementKeyRow,
  MemberRow,
  OrganizationRow,
  ProjectRow,
  SessionRow,
  UserRow,
} from '../../storage/schema.ts'
import { insertEnvironment } from '../../storage/tenancy/environments.ts'
import { insertOrganization } from '../../storage/tenancy/organizations.ts'
import { insertProject } from '../../storage/tenancy/projects.ts'
import { insertMember } from '../../storage/users/members.ts'
import { insertSession } from '../../storage/users/sessions.ts'
import { insertUser } from '../../storage/users/users.ts'

/** The default creation time of rows. */
export const CREATED = new Date('2026-11-21T10:00:00.000Z')

export const newId = openIds(systemClock, systemRandom)

export const stamps = { created_at: CREATED, updated_at: CREATED }

export interface Tree {
  readonly organization: OrganizationRow
  readonly project: ProjectRow
  readonly environment: EnvironmentRow
}

export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

export async function addOrganization(
  db: Db,
  change: Partial<OrganizationRow> = {},
): Promise<OrganizationRow> {
  const id = newId()
  const row = { id, name: 'Acme', slug: `acme-${id}`, time_zone: 'UTC', ...stamps, deleted_at: null }
  await insertOrganization(db, { ...row, ...change })
  return { ...row, ...change }
}

export async function addProject(
  db: Db,
  organization: OrganizationRow,
  change: Partial<ProjectRow> = {},
): Promise<ProjectRow> {
  const id = newId()
  const row = {
    id,
    org_id: organization.id,
    name: 'App',
    slug: `app-${id}`,
    allowed_origins: ['https://app.example'],
    ...stamps,
    deleted_at: null,
    ...change,
  }
  await insertProject(db, row)
  return row
}

export async function addEnvironment(
  db: Db,
  project: ProjectRow,
  change: Partial<EnvironmentRow> = {},
): Promise<EnvironmentRow> {
  const row: EnvironmentRow = {
    id: newId(),
    org_id: project.org_id,
    project_id: project.id,
    name: 'development',
    is_default: true,
    log_retention_days: 30,
    log_capture: 'full',
    allowed_models: null,
    unsupported_params: 'refuse',
    on_client_gone: 'cancel',
    allow_client_passthrough: false,
    allow_secret_key_in_browser: false,
    ...stamps,
    ...change,
  }
  await insertEnvironment(db, row)
  return row
}

/** Inserts an organization with a project and its development environment. */
export async function addTree(db: Db): Promise<Tree> {
  const organization = await addOrganization(db)
  const project = await addProject(db, organization)
  return { organization, project, environment: await addEnvironment(db, project) }
}

/** Returns the first columns of every row that belongs to an environment. */
export function below(environment: EnvironmentRow) {
  const { org_id, project_id } = environment
  return { id: newId(), org_id, project_id, environment_id: environment.id, ...stamps }
}

export async function addKey(
  db: Db,
  environment: EnvironmentRow,
  change: Partial<KeyRow> = {},
): Promise<KeyRow> {
  const base = below(environment)
  const row: KeyRow = {
    ...base,
    original_id: base.id,
    kind: 'secret',
    name: 'key',
    hash: sha256(base.id),
    prefix_display: 'rd_sk_dev_…',
    publishable_cipher: null,
    scopes: ['ai.chat'],
    allowed_models: null,
    allowed_endpoints: null,
    max_request_cost_nano_usd: null,
    expires_at: null,
    revoked_at: null,
    rolled_to: null,
    last_used_at: null,
    ...change,
  }
  await insertKey(db, row)
  return row
}

export async function addManagementKey(
  db: Db,
  organization: OrganizationRow,
  change: Partial<ManagementKeyRow> = {},
): Promise<ManagementKeyRow> {
  const id = newId()
  const row: ManagementKeyRow = {
    created_by: null,
    id,
    org_id: organization.id,
    name: 'management key',
    role: 'admin',
    hash: sha256(id),
    prefix_display: 'rd_mk_…',
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
    ...stamps,
    ...change,
  }
  await insertManagementKey(db, row)
  return row
}

export async function addCredential(
  db: Db,
  environment: EnvironmentRow,
  change: Partial<NewProviderCredentialRow> = {},
): Promise<ProviderCredentialRow> {
  return await insertProviderCredential(db, {
    ...below(environment),
    provider: 'openai',
    name: 'credential',
    secret_cipher: Buffer.from('sealed'),
    key_fingerprint: 'f',
    base_url: null,
    options: '{}',
    weight: 1,
    last_validated_at: null,
    validation_error: null,
    ...change,
  })
}

export async function addUser(db: Db, change: Partial<UserRow> = {}): Promise<UserRow> {
  const id = newId()
  const email = `${id}@example.com`
  const row = { id, email, name: null, password_hash: null, email_proven: true, ...stamps, ...change }
  await insertUser(db, row)
  return row
}

/** Inserts a member if `change` contains a user, otherwise a pending invitation. */
export async function addMember(
  db: Db,
  organization: OrganizationRow,
  change: Partial<MemberRow> = {},
): Promise<MemberRow> {
  const id = newId()
  const isMember = (change.user_id ?? null) !== null
  const row: MemberRow = {
    id,
    org_id: organization.id,
    user_id: null,
    role: 'developer',
    invite_email: isMember ? null : `${id}@example.com`,
    invited_by: null,
    accepted_at: isMember ? CREATED : null,
    invite_hash: isMember ? null : sha256(id),
    invite_expires_at: isMember ? null : new Date(CREATED.getTime() + 86_400_000),
    ...stamps,
    ...change,
  }
  await insertMember(db, row)
  return row
}

export async function addSession(
  db: Db,
  user: UserRow,
  change: Partial<SessionRow> = {},
): Promise<SessionRow> {
  const id = newId()
  const row = {
    id,
    user_id: user.id,
    hash: sha256(id),
    created_at: CREATED,
    last_used_at: CREATED,
    expires_at: new Date(CREATED.getTime() + 30 * 86_400_000),
    ...change,
  }
  await insertSession(db, row)
  return row
}

/** Returns the end user's id. */
export async function addEndUser(
  db: Db,
  environment: EnvironmentRow,
  externalId: string,
  change: { plan_id?: string | null; blocked_at?: Date | null } = {},
): Promise<string> {
  const row = { ...below(environment), plan_id: null, blocked_at: null, ...change }
  await insertEndUser(db, { ...row, external_id: externalId, attributes: '{}' })
  return row.id
}
