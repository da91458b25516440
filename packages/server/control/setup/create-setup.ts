import { createHash, timingSafeEqual } from 'node:crypto'
import { sql } from 'kysely'
import { Fault } from '../../core/fault.ts'
import { createRandomId } from '../../core/ids.ts'
import { SCOPES } from '../../core/tenancy/tenancy.ts'
import { insertKey } from '../../storage/keys/keys.ts'
import { insertManagementKey } from '../../storage/keys/management-keys.ts'
import type { Db } from '../../storage/pool.ts'
import type { UserRow } from '../../storage/schema.ts'
import { hasUsers, insertUser } from '../../storage/users/users.ts'
import { EnvironmentResource, toEnvironmentResource } from '../environments/environment-resource.ts'
import { NewKeyResource, toKeyResource } from '../keys/key-resource.ts'
import { createKeyRow } from '../keys/new-key.ts'
import {
  NewManagementKeyResource,
  toManagementKeyResource,
} from '../management-keys/management-key-resource.ts'
import { createManagementKeyRow } from '../management-keys/new-management-key.ts'
import { emailField, passwordField, stamps, textField, toStamps, uuid } from '../operation/fields.ts'
import { newRecord } from '../operation/new-record.ts'
import { defineOperation, type Services } from '../operation/operation.ts'
import { toSlug } from '../operation/slug.ts'
import { z } from '../operation/zod.ts'
import { createOwnedOrganization } from '../organizations/new-organization.ts'
import { DEFAULT_TIME_ZONE } from '../organizations/organization-fields.ts'
import { OrganizationResource, toOrganizationResource } from '../organizations/organization-resource.ts'
import { createProject } from '../projects/new-project.ts'
import { ProjectResource, toProjectResource } from '../projects/project-resource.ts'
import { hashForAddress } from '../session/address-password.ts'
import { startSession } from '../session/session-life.ts'

const SetupBody = z
  .strictObject({
    setup_token: z.string().min(1).max(1024),
    email: emailField,
    password: passwordField,
    name: textField(200).nullish(),
    organization: z.strictObject({ name: textField(200) }),
  })
  .meta({ id: 'SetupRequest' })

const SetupResource = z
  .strictObject({
    user: z.strictObject({ id: uuid, email: z.string(), name: z.string().nullable(), ...stamps }),
    organization: OrganizationResource,
    project: ProjectResource,
    environments: z.array(EnvironmentResource),
    management_key: NewManagementKeyResource,
    secret_key: NewKeyResource,
  })
  .meta({ id: 'Setup' })

export const createSetup = defineOperation('POST /v1/setup', {
  name: 'setup.create',
  summary:
    'First-run set-up: creates the owner and everything that a first call needs. Open while no user exists. Signs the owner in.',
  access: 'public',
  body: SetupBody,
  response: { 201: SetupResource },
  faults: ['setup_closed', 'control_rate_limit_exceeded'],
  audit: (_call, { organization, user }) => ({
    orgIds: [organization.id],
    resourceId: organization.id,
    actor: { kind: 'member', id: user.id },
  }),
  handle: async ({ services, caller, answer, body }) => {
    const refund = services.rates.countAttempt('set_up', caller.address)
    // Check the token and the users first, so that only an authorized caller can make the app hash a password. Both are
    // checked in any case: the time does not tell which of them was wrong.
    const isClosed = await hasUsers(services.db)
    if (!isSameToken(body.setup_token, services.setupToken()) || isClosed) throw closed()
    const passwordHash = await hashForAddress(services, body.email, body.password, 'setup')
    const { user, result } = await services.db.transaction().execute(async tx => {
      // The second of two concurrent set-ups waits here and then finds a user.
      await sql`select pg_advisory_xact_lock(hashtext('rideau:setup'))`.execute(tx)
      if (await hasUsers(tx)) throw closed()
      return await insertAll(tx, services, body, passwordHash)
    })
    await startSession(services, caller, answer, user)
    refund()
    return result
  },
})

async function insertAll(
  tx: Db,
  services: Services,
  body: z.output<typeof SetupBody>,
  passwordHash: string,
): Promise<{ readonly user: UserRow; readonly result: z.output<typeof SetupResource> }> {
  const user: UserRow = {
    ...newRecord(services),
    id: createRandomId(services.random),
    email: body.email,
    name: body.name ?? null,
    password_hash: passwordHash,
    // The holder of the set-up token operates the deployment.
    email_proven: true,
  }
  await insertUser(tx, user)
  const { name } = body.organization
  const settings = {
    id: services.newId(),
    name,
    slug: toSlug(name, 'organization'),
    time_zone: DEFAULT_TIME_ZONE,
  }
  const organization = await createOwnedOrganization(tx, services, settings, user.id)
  const { project, development, production } = await createProject(tx, services, {
    orgId: organization.id,
    name: 'Default',
    slug: 'default',
    allowedOrigins: [],
  })
  const management = createManagementKeyRow(services, {
    createdBy: user.id,
    orgId: organization.id,
    name: 'Set-up',
    role: 'admin',
    expiresAt: null,
  })
  await insertManagementKey(tx, management.row)
  const secret = createKeyRow(services, development, {
    kind: 'secret',
    name: 'Set-up',
    scopes: SCOPES,
    allowedModels: null,
    allowedEndpoints: null,
    maxRequestCostNanoUsd: null,
    expiresAt: null,
  })
  await insertKey(tx, secret.row)
  const result = {
    user: { id: user.id, email: user.email, name: user.name, ...toStamps(user) },
    organization: toOrganizationResource(organization),
    project: toProjectResource(project),
    environments: [toEnvironmentResource(development), toEnvironmentResource(production)],
    management_key: { ...toManagementKeyResource(management.row), key: management.text },
    secret_key: { ...toKeyResource(secret.row), key: secret.text },
  }
  return { user, result }
}

/** Compares hashes: they have the same length, so the time of the comparison reveals nothing about the token. */
function isSameToken(given: string, expected: string | undefined): boolean {
  if (expected === undefined) return false
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(given), hash(expected))
}

function closed(): Fault {
  return new Fault('setup_closed', 'Set-up is complete, or the set-up token is wrong.')
}
