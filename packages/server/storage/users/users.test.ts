import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  emptyDatabase,
  type FreshDatabase,
  freshDatabase,
  listTestServers,
} from '../../testing/harness/database.ts'
import {
  addMember,
  addOrganization,
  addSession,
  addUser,
  CREATED,
  newId,
  sha256,
} from '../../testing/harness/storage-rows.ts'
import { migrateDatabase } from '../migrate.ts'
import type { Db } from '../pool.ts'
import type { OrganizationRow, PasswordResetRow, UserRow } from '../schema.ts'
import { isUniqueViolation } from '../unique-violation.ts'
import { findUserByIdentity, insertIdentity, listIdentityIssuers, lockEmail } from './identities.ts'
import {
  findPasswordReset,
  removePasswordReset,
  removeUserPasswordReset,
  upsertPasswordReset,
} from './password-resets.ts'
import {
  findSessionByHash,
  removeExpiredSessions,
  removeSession,
  removeSessionByHash,
  removeUserSessions,
  updateSessionLastUsed,
} from './sessions.ts'
import {
  absorbUsers,
  findUserByPassword,
  getPasswordSalting,
  getUser,
  hasUsers,
  listUsersByEmail,
  lockUser,
  updateEmailProven,
  updatePassword,
} from './users.ts'

const LATER = new Date(CREATED.getTime() + 60_000)
const HOUR_MS = 3_600_000

describe.each(listTestServers())('people on $label', server => {
  let database: FreshDatabase
  let db: Db
  beforeAll(async () => {
    database = await freshDatabase(server)
    db = database.db
  })
  afterAll(() => database.drop())

  describe('users', () => {
    test('are none in a new database', async () => {
      const fresh = await freshDatabase(server)
      expect(await hasUsers(fresh.db)).toBe(false)
      await fresh.drop()
    })

    test('are found by id and by address in lower case, whatever case was stored', async () => {
      const email = `Ada-${newId()}@Example.com`
      const user = await addUser(db, { email })
      expect(await hasUsers(db)).toBe(true)
      expect(await getUser(db, user.id)).toEqual(user)
      expect(await listUsersByEmail(db, email.toLowerCase())).toEqual([user])
      expect(await listUsersByEmail(db, 'unknown@example.com')).toEqual([])
      await expect(getUser(db, newId())).rejects.toThrow('no result')
    })

    test('may have an address that others have, of whom at most one proved it', async () => {
      const email = `${newId()}@example.com`
      const first = await addUser(db, { email, email_proven: false })
      const proven = await addUser(db, { email: email.toUpperCase(), created_at: LATER })
      const last = await addUser(db, { email, email_proven: false, created_at: LATER })
      expect(await listUsersByEmail(db, email)).toEqual([proven, first, last])
      expect(
        isUniqueViolation(await updateEmailProven(db, last.id, true, LATER).catch(e => e), 'users_email'),
      ).toBe(true)
    })

    test('are found by address and password; of two with one password it is the one with a proven address', async () => {
      const email = `${newId()}@example.com`
      const of = (password_hash: string, email_proven = false) =>
        addUser(db, { email, email_proven, password_hash })
      const [a, b] = [await of('$scrypt$x$salt$a'), await of('$scrypt$x$salt$b')]
      expect((await findUserByPassword(db, email, '$scrypt$x$salt$b'))?.id).toBe(b.id)
      expect(await findUserByPassword(db, email, '$scrypt$x$salt$c')).toBeUndefined()
      expect(await findUserByPassword(db, 'other@example.com', '$scrypt$x$salt$a')).toBeUndefined()
      const proven = await of('$scrypt$x$salt$a', true)
      expect((await findUserByPassword(db, email, '$scrypt$x$salt$a'))?.id).toBe(proven.id)
      await updatePassword(db, proven.id, null, LATER)
      expect((await findUserByPassword(db, email, '$scrypt$x$salt$a'))?.id).toBe(a.id)
    })

    test('share the settings of the oldest password if they have one address; the key for others is random', async () => {
      const email = `${newId()}@example.com`
      const none = await getPasswordSalting(db, email)
      expect(none).toEqual({ saltKey: expect.any(Buffer), settings: null })
      expect(none.saltKey).toHaveLength(32)
      await addUser(db, { email, email_proven: false })
      await addUser(db, { email, email_proven: false, password_hash: '$scrypt$ln=4,r=8,p=1$c2FsdA$aGFzaA' })
      const later = { email, created_at: LATER }
      await addUser(db, { ...later, password_hash: '$scrypt$ln=4,r=8,p=1$b3RoZXI$aGFzaA' })
      const settings = '$scrypt$ln=4,r=8,p=1$c2FsdA'
      expect(await getPasswordSalting(db, email)).toEqual({ ...none, settings })
      const fresh = await emptyDatabase(server)
      await migrateDatabase(fresh.connection, () => {})
      expect((await getPasswordSalting(fresh.db, email)).saltKey).not.toEqual(none.saltKey)
      await fresh.drop()
    })

    test('absorb others: each membership once, and no password, session or reset link of theirs is left', async () => {
      const email = `${newId()}@example.com`
      const of = () => addUser(db, { email, email_proven: false, password_hash: '$scrypt$x' })
      const [into, a, b, bystander] = [await of(), await of(), await of(), await of()]
      const orgs = [await addOrganization(db), await addOrganization(db), await addOrganization(db)] as const
      const join = async (user: UserRow, org: number) =>
        (await addMember(db, orgs[org] as OrganizationRow, { user_id: user.id })).id
      const kept = await join(into, 0)
      const duplicate = await join(a, 0)
      const twice = [await join(a, 1), await join(b, 1)]
      const moved = await join(b, 2)
      const others = await join(bystander, 2)
      const sessions = [await addSession(db, a), await addSession(db, bystander)]
      await absorbUsers(db, [], bystander.id, LATER)
      await absorbUsers(db, [a.id, b.id], into.id, LATER)
      const rows = await db.selectFrom('members').select(['id', 'user_id']).execute()
      const holderOf = (id: string) => rows.find(row => row.id === id)?.user_id
      expect([kept, duplicate, moved, others].map(holderOf)).toEqual([into.id, a.id, into.id, bystander.id])
      expect(twice.map(holderOf).filter(id => id === into.id)).toHaveLength(1)
      const passwords = [into, a, b, bystander].map(async ({ id }) => (await getUser(db, id)).password_hash)
      expect(await Promise.all(passwords)).toEqual(['$scrypt$x', null, null, '$scrypt$x'])
      const left = await Promise.all(sessions.map(({ hash }) => findSessionByHash(db, hash)))
      expect(left.map(session => session !== undefined)).toEqual([false, true])
    })

    test('have a proven address that no other user has proven, in whatever case', async () => {
      const { email } = await addUser(db)
      const error = await addUser(db, { email: email.toUpperCase() }).catch(failure => failure)
      expect(isUniqueViolation(error, 'users_email')).toBe(true)
    })

    test('change their password hash, lose it, and have their address marked as proven and as unproven', async () => {
      const { id } = await addUser(db, { email_proven: false })
      await updatePassword(db, id, '$scrypt$x', LATER)
      expect(await getUser(db, id)).toMatchObject({ password_hash: '$scrypt$x', updated_at: LATER })
      await updatePassword(db, id, null, LATER)
      await updateEmailProven(db, id, true, LATER)
      expect(await getUser(db, id)).toMatchObject({ password_hash: null, email_proven: true })
      await updateEmailProven(db, id, false, LATER)
      expect(await getUser(db, id)).toMatchObject({ email_proven: false })
    })

    test('are locked by one transaction at a time', async () => {
      const { id } = await addUser(db)
      const order: number[] = []
      await Promise.all(
        [1, 2, 3].map(n =>
          db.transaction().execute(async tx => {
            const { name } = await lockUser(tx, id)
            order.push(n)
            const next = Number(name ?? 0) + 1
            await tx
              .updateTable('users')
              .set({ name: String(next) })
              .where('id', '=', id)
              .execute()
          }),
        ),
      )
      expect(order.sort()).toEqual([1, 2, 3])
      expect((await getUser(db, id)).name).toBe('3')
    })
  })

  describe('identities', () => {
    test('belong to one user for each issuer and subject', async () => {
      const [ada, bob] = [await addUser(db), await addUser(db)]
      const subject = newId()
      const identity = { issuer: 'https://a.example', subject, user_id: ada.id, created_at: CREATED }
      await insertIdentity(db, identity)
      await insertIdentity(db, { ...identity, issuer: 'https://b.example', user_id: bob.id })
      expect((await findUserByIdentity(db, 'https://a.example', subject))?.id).toBe(ada.id)
      expect((await findUserByIdentity(db, 'https://b.example', subject))?.id).toBe(bob.id)
      expect(await findUserByIdentity(db, 'https://a.example', 'unknown')).toBeUndefined()
      const error = await insertIdentity(db, { ...identity, user_id: bob.id }).catch(failure => failure)
      expect(isUniqueViolation(error, 'identities_pkey')).toBe(true)
      expect(await listIdentityIssuers(db, ada.id)).toEqual(['https://a.example'])
      expect(await listIdentityIssuers(db, (await addUser(db)).id)).toEqual([])
    })

    test('create one user in concurrent first sign-ins by one address', async () => {
      const email = `${newId()}@example.com`
      const signIn = (): Promise<string> =>
        db.transaction().execute(async tx => {
          await lockEmail(tx, email)
          return (await listUsersByEmail(tx, email))[0]?.id ?? (await addUser(tx, { email })).id
        })
      const ids = await Promise.all([signIn(), signIn(), signIn()])
      expect(new Set(ids).size).toBe(1)
    })
  })

  describe('sessions', () => {
    test('are found by the hash of their token until they are removed', async () => {
      const user = await addUser(db)
      const [first, second] = [await addSession(db, user), await addSession(db, user)]
      expect(await findSessionByHash(db, first.hash)).toEqual(first)
      await updateSessionLastUsed(db, first.id, LATER)
      expect(await findSessionByHash(db, first.hash)).toEqual({ ...first, last_used_at: LATER })
      await removeSession(db, first.id)
      await removeSessionByHash(db, second.hash)
      expect(await findSessionByHash(db, first.hash)).toBeUndefined()
      expect(await findSessionByHash(db, second.hash)).toBeUndefined()
    })

    test('are removed together for one user, and no others', async () => {
      const [ada, bob] = [await addUser(db), await addUser(db)]
      const sessions = [await addSession(db, ada), await addSession(db, ada), await addSession(db, bob)]
      await removeUserSessions(db, ada.id)
      const left = await Promise.all(sessions.map(({ hash }) => findSessionByHash(db, hash)))
      expect(left.map(session => session !== undefined)).toEqual([false, false, true])
    })

    test('are removed once they expire or have been idle, each exactly at its time', async () => {
      const user = await addUser(db)
      const now = new Date(CREATED.getTime() + 2 * HOUR_MS)
      const idleSince = new Date(CREATED.getTime() + HOUR_MS)
      const after = (time: Date): Date => new Date(time.getTime() + 1)
      const expired = await addSession(db, user, { expires_at: now, last_used_at: now })
      const idle = await addSession(db, user, { last_used_at: idleSince })
      const live = await addSession(db, user, { expires_at: after(now), last_used_at: after(idleSince) })
      await removeExpiredSessions(db, now, idleSince)
      expect(await findSessionByHash(db, expired.hash)).toBeUndefined()
      expect(await findSessionByHash(db, idle.hash)).toBeUndefined()
      expect(await findSessionByHash(db, live.hash)).toEqual(live)
    })

    test('are removed a thousand at a time, so that one sign-in does not wait for all of them', async () => {
      const user = await addUser(db)
      await database.pool.query(
        `insert into sessions (id, user_id, hash, created_at, last_used_at, expires_at)
          select gen_random_uuid(), $1, sha256(i::text::bytea), $2, $2, $2 from generate_series(1, 1500) as i`,
        [user.id, CREATED],
      )
      const left: number[] = []
      for (let n = 0; n < 2; n++) {
        await removeExpiredSessions(db, CREATED, new Date(0))
        left.push(
          (await db.selectFrom('sessions').select('id').where('user_id', '=', user.id).execute()).length,
        )
      }
      expect(left).toEqual([500, 0])
    })

    test('are removed by two sign-ins at once, each of which has removed an expired one before', async () => {
      const user = await addUser(db)
      const expired = { expires_at: CREATED }
      const sessions = [await addSession(db, user, expired), await addSession(db, user, expired)]
      let removed = 0
      let goOn = (): void => {}
      const bothRemoved = new Promise<void>(resolve => {
        goOn = resolve
      })
      await Promise.all(
        sessions.map(({ hash }) =>
          db.transaction().execute(async tx => {
            await removeSessionByHash(tx, hash)
            if (++removed === sessions.length) goOn()
            await bothRemoved
            await removeExpiredSessions(tx, CREATED, new Date(0))
          }),
        ),
      )
      for (const { hash } of sessions) expect(await findSessionByHash(db, hash)).toBeUndefined()
    })
  })

  describe('password resets', () => {
    const toReset = (user: UserRow, change: Partial<PasswordResetRow> = {}): PasswordResetRow => ({
      user_id: user.id,
      hash: sha256(newId()),
      issued_by: user.id,
      created_at: CREATED,
      expires_at: LATER,
      ...change,
    })

    test('exist once for a user: a new one replaces the previous one', async () => {
      const [user, admin] = [await addUser(db), await addUser(db)]
      const first = toReset(user)
      const second = toReset(user, { issued_by: admin.id, created_at: LATER })
      await upsertPasswordReset(db, first)
      await upsertPasswordReset(db, second)
      expect(await findPasswordReset(db, first.hash)).toBeUndefined()
      expect(await findPasswordReset(db, second.hash)).toEqual(second)
    })

    test('are removed by one of several concurrent callers', async () => {
      const reset = toReset(await addUser(db))
      await upsertPasswordReset(db, reset)
      const removed = await Promise.all([1, 2, 3].map(() => removePasswordReset(db, reset.hash)))
      expect(removed.sort()).toEqual([false, false, true])
    })

    test('are removed with the others of their user', async () => {
      const [ada, bob] = [toReset(await addUser(db)), toReset(await addUser(db))]
      await upsertPasswordReset(db, ada)
      await upsertPasswordReset(db, bob)
      await removeUserPasswordReset(db, ada.user_id)
      expect(await findPasswordReset(db, ada.hash)).toBeUndefined()
      expect(await findPasswordReset(db, bob.hash)).toEqual(bob)
    })
  })
})
