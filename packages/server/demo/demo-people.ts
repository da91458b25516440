import { createHmac } from 'node:crypto'
import { openPasswords, toPasswordSettings } from '../control/operation/password.ts'
import { createOwnedOrganization } from '../control/organizations/new-organization.ts'
import { createToken, hashToken } from '../core/access/opaque-token.ts'
import type { Role } from '../core/access/permissions.ts'
import { createRandomId } from '../core/ids.ts'
import type { OrganizationRow } from '../storage/schema.ts'
import { insertMember } from '../storage/users/members.ts'
import { getPasswordSalting, insertUser } from '../storage/users/users.ts'
import type { DemoDeps } from './demo-deps.ts'

export const DEMO_TIME_ZONE = 'Europe/Berlin'
const DAY_MS = 86_400_000

/** Who can sign in, all with the demo's password. */
export const DEMO_SIGN_INS = [
  { email: 'owner@example.com', name: 'Ada Lovelace', role: 'owner' },
  { email: 'admin@example.com', name: 'Grace Hopper', role: 'admin' },
  { email: 'developer@example.com', name: 'Alan Turing', role: 'developer' },
  { email: 'viewer@example.com', name: 'Vi Hart', role: 'viewer' },
] as const
/** Members who belong to the picture and have no password. */
const OTHERS = [
  { email: 'margaret@example.com', name: 'Margaret Hamilton', role: 'admin' },
  { email: 'radia@example.com', name: 'Radia Perlman', role: 'developer' },
  { email: 'linus@example.com', name: null, role: 'developer' },
  { email: 'barbara@example.com', name: 'Barbara Liskov', role: 'developer' },
  { email: 'shafi@example.com', name: 'Shafi Goldwasser', role: 'viewer' },
] as const

export interface DemoPeople {
  readonly organization: OrganizationRow
  readonly userIds: readonly string[]
  /** Belongs to the address of the link; in no other place. */
  readonly invitationToken: string
}

/** Creates the organization with its nine members and a pending invitation, and an organization that belongs to another user. */
export async function createPeople(deps: DemoDeps, password: string): Promise<DemoPeople> {
  const at = new Date(deps.clock.now() - 100 * DAY_MS)
  const { saltKey } = await getPasswordSalting(deps.db, '')
  const passwords = openPasswords()
  const userIds: string[] = []
  const addUser = async ({ email, name }: { email: string; name: string | null }, hash: string | null) => {
    const id = createRandomId(deps.random)
    const row = { id, email, name, password_hash: hash, email_proven: true, created_at: at, updated_at: at }
    await insertUser(deps.db, row)
    userIds.push(id)
    return id
  }
  const past = { newId: deps.newId, clock: { now: () => at.getTime() } }
  const join = (orgId: string, userId: string, role: Role): Promise<unknown> =>
    insertMember(deps.db, { ...toMember(past.newId(), orgId, role, at), user_id: userId, accepted_at: at })
  const hashes = await Promise.all(
    DEMO_SIGN_INS.map(({ email }) => {
      const salt = createHmac('sha256', saltKey).update(email).digest().subarray(0, 16)
      return passwords.hash(password, toPasswordSettings(salt), '')
    }),
  )
  const [owner, ...signIns] = DEMO_SIGN_INS
  const ownerId = await addUser(owner, hashes[0] ?? null)
  const settings = { id: deps.newId(), name: 'Acme', slug: 'acme', time_zone: DEMO_TIME_ZONE }
  const organization = await createOwnedOrganization(deps.db, past, settings, ownerId)
  for (const [index, person] of [...signIns, ...OTHERS].entries())
    await join(organization.id, await addUser(person, hashes[index + 1] ?? null), person.role)
  const stranger = await addUser({ email: 'eve@example.com', name: 'Eve' }, null)
  const others = { id: deps.newId(), name: 'Another company', slug: 'another-company', time_zone: 'UTC' }
  await createOwnedOrganization(deps.db, past, others, stranger)
  return {
    organization,
    userIds: userIds.slice(0, -1),
    invitationToken: await invite(deps, organization.id, ownerId),
  }
}

async function invite(deps: DemoDeps, orgId: string, invitedBy: string): Promise<string> {
  const token = createToken(deps.random)
  const at = new Date(deps.clock.now() - DAY_MS)
  await insertMember(deps.db, {
    ...toMember(deps.newId(), orgId, 'developer', at),
    invite_email: 'new-colleague@example.com',
    invited_by: invitedBy,
    invite_hash: hashToken(token),
    invite_expires_at: new Date(at.getTime() + 7 * DAY_MS),
  })
  return token
}

function toMember(id: string, orgId: string, role: Role, at: Date) {
  const invitation = { invite_email: null, invited_by: null, invite_hash: null, invite_expires_at: null }
  const stamps = { created_at: at, updated_at: at }
  return { id, org_id: orgId, user_id: null, role, accepted_at: null, ...invitation, ...stamps }
}
