import { createHmac } from 'node:crypto'
import { Fault } from '../../core/fault.ts'
import type { Db } from '../../storage/pool.ts'
import type { UserRow } from '../../storage/schema.ts'
import { findUserByPassword, getPasswordSalting } from '../../storage/users/users.ts'
import { anotherCallWasFirst } from '../operation/concurrent-call.ts'
import type { Services } from '../operation/operation.ts'
import { toPasswordSettings } from '../operation/password.ts'

/**
 * Returns the hash that an account of the address stores for the password. The work is the same for every address, whether
 * it has no account, one or many: all accounts of an address share one salt, which two concurrent first accounts must
 * find without each other. `party`: in whose line it waits. Throws like `Passwords.hash`.
 */
export async function hashForAddress(
  services: Services,
  email: string,
  password: string,
  party: string,
): Promise<string> {
  const { saltKey, settings } = await getPasswordSalting(services.wholeDb, email)
  const salt = createHmac('sha256', saltKey).update(email).digest().subarray(0, 16)
  return await services.passwords.hash(password, settings ?? toPasswordSettings(salt), party)
}

/**
 * Returns the account of the address that has the password of this hash, if there is one. Throws 409 `resource_conflict` if
 * the address got another salt since the password was hashed: the hash would be found by no sign-in. The caller of `tx`
 * must have locked the address.
 */
export async function findUserByHash(tx: Db, email: string, hash: string): Promise<UserRow | undefined> {
  const { settings } = await getPasswordSalting(tx, email)
  if (settings !== null && !hash.startsWith(`${settings}$`)) throw anotherCallWasFirst()
  return await findUserByPassword(tx, email, hash)
}

/**
 * Throws 400 `invalid_request` if another account of the address has this password: a sign-in could not tell the two
 * apart. It reveals what a sign-in by that password reveals, so callers count it like one. The caller of `tx` must have
 * locked the address.
 */
export async function assertDistinctPassword(
  tx: Db,
  user: { readonly id: string; readonly email: string },
  hash: string,
): Promise<void> {
  const found = await findUserByHash(tx, user.email.toLowerCase(), hash)
  if (found === undefined || found.id === user.id) return
  throw new Fault('invalid_request', 'Choose another password.', { param: 'new_password' })
}
