import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import {
  addMember,
  addOrganization,
  addUser,
  CREATED,
  newId,
  sha256,
} from '../../testing/harness/storage-rows.ts'
import type { Db } from '../pool.ts'
import type { OrganizationRow } from '../schema.ts'
import { removeOrganization } from '../tenancy/organizations.ts'
import { isUniqueViolation } from '../unique-violation.ts'
import {
  acceptInvitation,
  findInvitationByHash,
  findMember,
  hasMemberOrInvitation,
  hasOtherOwner,
  listInvitationsByEmail,
  listMemberships,
  MAX_MEMBERSHIPS,
  removeExpiredInvitations,
  removeMember,
  updateMemberRole,
} from './members.ts'

const LATER = new Date(CREATED.getTime() + 60_000)

describe.each(listTestServers())('members on $label', server => {
  let database: FreshDatabase
  let db: Db
  let organization: OrganizationRow
  beforeAll(async () => {
    database = await freshDatabase(server)
    db = database.db
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    organization = await addOrganization(db)
  })

  test('come with the email and name of their user; an invitation has neither', async () => {
    const user = await addUser(db, { name: 'Ada' })
    const member = await addMember(db, organization, { user_id: user.id })
    const invitation = await addMember(db, organization)
    expect(await findMember(db, member.id)).toEqual({ ...member, user_email: user.email, user_name: 'Ada' })
    expect(await findMember(db, invitation.id)).toEqual({ ...invitation, user_email: null, user_name: null })
  })

  test('belong to an organization once', async () => {
    const user = await addUser(db)
    await addMember(db, organization, { user_id: user.id })
    await addMember(db, await addOrganization(db), { user_id: user.id })
    const error = await addMember(db, organization, { user_id: user.id }).catch(failure => failure)
    expect(isUniqueViolation(error, 'members_org_id_user_id_key')).toBe(true)
  })

  test('change their role', async () => {
    const { id } = await addMember(db, organization, { user_id: (await addUser(db)).id })
    await updateMemberRole(db, id, 'admin', LATER)
    expect(await findMember(db, id)).toMatchObject({ role: 'admin', updated_at: LATER })
  })

  test('can join again after their row was removed', async () => {
    const user = await addUser(db)
    const { id } = await addMember(db, organization, { user_id: user.id })
    await removeMember(db, id)
    await addMember(db, organization, { user_id: user.id })
    expect(await listMemberships(db, user.id)).toHaveLength(1)
  })

  test('of a user in very many organizations: those that were accepted last count, oldest first', async () => {
    const user = await addUser(db)
    const first = await addMember(db, organization, { user_id: user.id, accepted_at: CREATED })
    await database.pool.query(
      `with made as (
        insert into organizations select (jsonb_populate_record(o, jsonb_build_object(
          'id', gen_random_uuid(), 'slug', gen_random_uuid()))).*
        from organizations o, generate_series(1, ${MAX_MEMBERSHIPS}) where o.id = '${organization.id}' returning id
      ) insert into members select (jsonb_populate_record(m, jsonb_build_object(
          'id', gen_random_uuid(), 'org_id', made.id, 'accepted_at', $1::timestamptz))).*
        from members m, made where m.id = '${first.id}'`,
      [LATER],
    )
    const last = await addMember(db, await addOrganization(db), {
      user_id: user.id,
      accepted_at: new Date(LATER.getTime() + 1),
    })
    const listed = (await listMemberships(db, user.id)).map(({ id }) => id)
    expect(listed).toHaveLength(MAX_MEMBERSHIPS)
    expect([listed.includes(first.id), listed.includes(last.id)]).toEqual([false, true])
  })

  describe('invitations', () => {
    test('are found by the hash of their token until they are accepted', async () => {
      const { id, invite_hash } = await addMember(db, organization)
      const hash = invite_hash as Buffer
      expect(await findInvitationByHash(db, hash)).toMatchObject({ id })
      expect(await findInvitationByHash(db, sha256('unknown'))).toBeUndefined()
      const user = await addUser(db)
      await acceptInvitation(db, id, user.id, LATER)
      expect(await findInvitationByHash(db, hash)).toBeUndefined()
      expect(await findMember(db, id)).toMatchObject({
        user_id: user.id,
        accepted_at: LATER,
        invite_hash: null,
        invite_expires_at: null,
      })
    })

    test('are not found once their organization is deleted', async () => {
      const { invite_hash, invite_email } = await addMember(db, organization)
      await removeOrganization(db, organization.id, LATER)
      expect(await findInvitationByHash(db, invite_hash as Buffer)).toBeUndefined()
      expect(await listInvitationsByEmail(db, invite_email as string)).toEqual([])
    })

    test('are listed for an address across organizations, without accepted ones', async () => {
      const email = `${newId()}@example.com`
      const user = await addUser(db)
      const first = await addMember(db, organization, { invite_email: email })
      const second = await addMember(db, await addOrganization(db), { invite_email: email })
      const accepted = await addMember(db, await addOrganization(db), { invite_email: email })
      await acceptInvitation(db, accepted.id, user.id, LATER)
      const found = await listInvitationsByEmail(db, email)
      expect(found.map(({ id }) => id).sort()).toEqual([first.id, second.id].sort())
    })

    test('exist once for an address in an organization, in whatever case', async () => {
      const email = `${newId()}@example.com`
      const { id } = await addMember(db, organization, { invite_email: email })
      const again = () => addMember(db, organization, { invite_email: email.toUpperCase() })
      const error = await again().catch(failure => failure)
      expect(isUniqueViolation(error, 'members_invitation')).toBe(true)
      await acceptInvitation(db, id, (await addUser(db)).id, LATER)
      await again()
    })

    test('are removed once they expired: those of the address in the organization only', async () => {
      const invite_email = `${newId()}@example.com`
      const other = await addOrganization(db)
      const expired = await addMember(db, organization, { invite_email, invite_expires_at: LATER })
      const elsewhere = await addMember(db, other, { invite_email, invite_expires_at: LATER })
      const another = await addMember(db, organization, { invite_expires_at: LATER })
      await removeExpiredInvitations(db, organization.id, invite_email, new Date(LATER.getTime() - 1))
      expect(await findMember(db, expired.id)).toBeDefined()
      await removeExpiredInvitations(db, organization.id, invite_email, LATER)
      expect(await findMember(db, expired.id)).toBeUndefined()
      expect(await findMember(db, elsewhere.id)).toBeDefined()
      expect(await findMember(db, another.id)).toBeDefined()
    })

    test('are found by their address in their organization only, and so are members', async () => {
      const user = await addUser(db)
      const { invite_email } = await addMember(db, organization)
      const member = await addMember(db, organization, { user_id: user.id })
      const other = await addOrganization(db)
      const has = (orgId: string, email: string) => hasMemberOrInvitation(db, orgId, email)
      expect(await has(organization.id, invite_email as string)).toBe(true)
      expect(await has(organization.id, user.email)).toBe(true)
      expect(await has(other.id, user.email)).toBe(false)
      expect(await has(organization.id, 'unknown@example.com')).toBe(false)
      await removeMember(db, member.id)
      expect(await has(organization.id, user.email)).toBe(false)
    })
  })

  test('include another owner only if one has accepted', async () => {
    const [first, second] = [await addUser(db), await addUser(db)]
    const owner = await addMember(db, organization, { role: 'owner', user_id: first.id })
    const invited = await addMember(db, organization, { role: 'owner' })
    await addMember(db, organization, { role: 'admin', user_id: (await addUser(db)).id })
    expect(await hasOtherOwner(db, organization.id, owner.id)).toBe(false)
    await acceptInvitation(db, invited.id, second.id, LATER)
    expect(await hasOtherOwner(db, organization.id, owner.id)).toBe(true)
    expect(await hasOtherOwner(db, organization.id, invited.id)).toBe(true)
  })

  test('give a user its memberships, oldest first, without invitations and deleted organizations', async () => {
    const user = await addUser(db)
    const [newer, deleted] = [await addOrganization(db), await addOrganization(db)]
    await addMember(db, newer, { user_id: user.id, created_at: LATER, role: 'viewer' })
    await addMember(db, organization, { user_id: user.id, role: 'owner' })
    await addMember(db, deleted, { user_id: user.id })
    await addMember(db, await addOrganization(db), { user_id: user.id, accepted_at: null })
    await removeOrganization(db, deleted.id, LATER)
    expect(await listMemberships(db, user.id)).toMatchObject([
      { org_id: organization.id, org_slug: organization.slug, org_name: 'Acme', role: 'owner' },
      { org_id: newer.id, role: 'viewer' },
    ])
  })
})
