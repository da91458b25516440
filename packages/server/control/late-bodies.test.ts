import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ControlPlane, type List, openControlPlane } from '../testing/harness/control-plane.ts'
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
  method = 'POST',
): Promise<number> {
  const { socket, until } = await openRaw(plane.url)
  const text = JSON.stringify(body)
  const head = [
    `${method} ${path} HTTP/1.1`,
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
])(
  'a call by management key whose body arrives after %s is answered with %i',
  async (name, status, statement) => {
    const tenant = await plane.insertTenant('late')
    const path = `/v1/environments/${tenant.development.id}/keys`
    const end = () => plane.database.pool.query(statement, [tenant.organization.id])
    const credential = [`authorization: Bearer ${tenant.keys.developer}`]
    expect(await callLate(path, { kind: 'secret', name }, credential, end)).toBe(status)
    expect(await countRows('keys', name)).toBe(status === 201 ? 1 : 0)
  },
)

test.each([
  ['budgets', { limit_usd: 900, window: 'month' }, { limit_usd: 0 }, { alert_pcts: [50] }],
  ['limits', { scope: 'environment', metric: 'requests', limit: 900 }, { limit: 0 }, { window_seconds: 30 }],
  [
    'quotas',
    { scope: 'environment', metric: 'requests', window: 'day', limit: 900 },
    { limit: 0 },
    { grace_pct: 5 },
  ],
])(
  'a change of %s keeps what another call changed while its body arrived',
  async (kind, made, lowered, late) => {
    const tenant = await plane.insertTenant('late')
    const key = tenant.keys.admin
    const owner =
      kind === 'budgets' ? `/v1/projects/${tenant.project.id}` : `/v1/environments/${tenant.development.id}`
    const created = await plane.call<{ id: string }>('POST', `${owner}/${kind}`, { key, body: made })
    expect(created.status).toBe(201)
    const path = `/v1/${kind}/${created.json.id}`
    const lower = async () =>
      expect((await plane.call('PATCH', path, { key, body: lowered })).status).toBe(200)
    expect(await callLate(path, late, [`authorization: Bearer ${key}`], lower, 'PATCH')).toBe(200)
    const { json } = await plane.call<List<object>>('GET', `${owner}/${kind}`, { key })
    expect(json.data).toEqual([expect.objectContaining({ ...lowered, ...late })])
  },
)

test('403 insufficient_role: a developer moves a record that got a price while the body arrived', async () => {
  const tenant = await plane.insertTenant('late')
  const made = await plane.call<{ id: string }>(
    'POST',
    `/v1/environments/${tenant.development.id}/custom-models`,
    {
      key: tenant.keys.developer,
      body: { model: 'custom/one', capabilities: ['chat'] },
    },
  )
  const path = `/v1/custom-models/${made.json.id}`
  const pricing = { input_usd_per_mtok: 0, output_usd_per_mtok: 0 }
  const price = () => plane.call('PATCH', path, { key: tenant.keys.admin, body: { pricing } })
  const credential = [`authorization: Bearer ${tenant.keys.developer}`]
  expect(await callLate(path, { model: 'custom/two' }, credential, price, 'PATCH')).toBe(403)
})
