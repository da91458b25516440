import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeDeletedSecrets } from '../../storage/secrets/remove-deleted-secrets.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../../testing/harness/control-plane.ts'

let plane: ControlPlane
beforeAll(async () => {
  plane = await openControlPlane()
})
afterAll(() => plane.close())

/** Creates a tenant with a provider credential, settings of devices and a webhook. */
async function insertWithSecrets(name: string): Promise<Tenant> {
  const tenant = await plane.insertTenant(name)
  const key = tenant.keys.admin
  const write = async (method: string, path: string, body: object): Promise<void> => {
    const headers = method === 'POST' ? { 'idempotency-key': plane.newId() } : {}
    expect((await plane.call(method, path, { key, body, headers })).status).toBeLessThan(300)
  }
  const credential = { provider: 'openai', name: 'OpenAI', api_key: 'sk-test' }
  await write('POST', `/v1/environments/${tenant.development.id}/provider-credentials`, credential)
  const android = { package_names: ['com.example.app'], signing_digests: ['ab'.repeat(32)] }
  await write('PUT', `/v1/projects/${tenant.project.id}/device-auth`, { android })
  const webhook = { url: 'https://hooks.example.com/', events: ['quota.alert'] }
  await write('POST', `/v1/orgs/${tenant.organization.id}/webhooks`, webhook)
  return tenant
}

/** Returns how many credentials, settings of devices, webhooks and kept answers the organization has. */
async function count({ organization }: Tenant): Promise<number[]> {
  const tables = ['provider_credentials', 'device_auth', 'webhooks', 'idempotent_creates']
  const counts = tables.map(async table => {
    const query = `select count(*)::int as count from ${table} where org_id = $1`
    return (await plane.database.pool.query(query, [organization.id])).rows[0].count
  })
  return await Promise.all(counts)
}

test('removes the secrets of deleted projects and organizations, and no others', async () => {
  const [kept, left, closed] = [
    await insertWithSecrets('kept'),
    await insertWithSecrets('left'),
    await insertWithSecrets('closed'),
  ]
  const before = await count(kept)
  expect(before).toEqual([expect.any(Number), 1, 1, 2])
  const remove = async (path: string, { people }: Tenant): Promise<void> => {
    const { cookie } = people.owner
    expect((await plane.call('DELETE', path, { cookie })).status).toBe(204)
  }
  await remove(`/v1/projects/${left.project.id}`, left)
  await remove(`/v1/orgs/${closed.organization.id}`, closed)
  await removeDeletedSecrets(plane.database.db)
  expect(await count(left)).toEqual([0, 0, 1, 2])
  expect(await count(closed)).toEqual([0, 0, 0, 0])
  expect(await count(kept)).toEqual(before)
})
