import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ControlPlane, openControlPlane } from '../testing/harness/control-plane.ts'
import { openRaw } from '../testing/harness/raw-connection.ts'

/** Calls whose right ends after their head was accepted and before their body has arrived. */

let plane: ControlPlane
beforeAll(async () => {
  plane = await openControlPlane()
})
afterAll(() => plane.close())

/** Sends the head, runs `end` once the head was accepted, and sends the body. Returns the status of the answer. */
async function callLate(
  path: string,
  body: unknown,
  credential: readonly string[],
  end: () => Promise<unknown>,
): Promise<number> {
  const { socket, until } = await openRaw(plane.url)
  const text = JSON.stringify(body)
  const head = [
    `POST ${path} HTTP/1.1`,
    `host: 127.0.0.1:${plane.port}`,
    'content-type: application/json',
    `content-length: ${text.length}`,
    ...credential,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  // No answer shows that the head was accepted, which takes a few queries.
  await new Promise(resolve => setTimeout(resolve, 300))
  await end()
  socket.write(text)
  const answer = await until('\r\n\r\n')
  socket.destroy()
  return Number(answer.split(' ', 2)[1])
}

const bySession = (cookie: string) => [
  `cookie: ${cookie}`,
  'x-rideau-csrf: 1',
  `origin: http://127.0.0.1:${plane.port}`,
]

async function countRows(table: 'management_keys' | 'keys', name: string): Promise<number> {
  const { rows } = await plane.database.pool.query(`select 1 from ${table} where name = $1`, [name])
  return rows.length
}

test.each([
  ['an ended session', 401, 'delete from sessions where user_id = $1'],
  ['a removed member', 404, 'delete from members where user_id = $1'],
  ['a demoted owner', 403, "update members set role = 'admin' where user_id = $1"],
  ['no change', 201, 'select $1::uuid'],
])('a call by session whose body arrives after %s is answered with %i', async (name, status, statement) => {
  const tenant = await plane.insertTenant('late')
  const { cookie, user } = tenant.people.owner
  const path = `/v1/orgs/${tenant.organization.id}/management-keys`
  const end = () => plane.database.pool.query(statement, [user.id])
  expect(await callLate(path, { name, role: 'admin' }, bySession(cookie), end)).toBe(status)
  expect(await countRows('management_keys', name)).toBe(status === 201 ? 1 : 0)
})

test.each([
  ['a revocation', 401, 'update management_keys set revoked_at = now() where org_id = $1'],
  ['an expiry', 401, "update management_keys set expires_at = now() - interval '1 hour' where org_id = $1"],
  ['a deletion', 401, 'delete from management_keys where org_id = $1'],
  ['no change of the key', 201, 'select $1::uuid'],
])('a call by management key whose body arrives after %s is answered with %i', async (name, status, statement) => {
  const tenant = await plane.insertTenant('late')
  const path = `/v1/environments/${tenant.development.id}/keys`
  const end = () => plane.database.pool.query(statement, [tenant.organization.id])
  const credential = [`authorization: Bearer ${tenant.keys.developer}`]
  expect(await callLate(path, { kind: 'secret', name }, credential, end)).toBe(status)
  expect(await countRows('keys', name)).toBe(status === 201 ? 1 : 0)
})
