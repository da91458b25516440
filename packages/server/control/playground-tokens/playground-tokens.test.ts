import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSecretBox } from '../../core/access/secret-box.ts'
import { systemRandom } from '../../core/random.ts'
import { updateSigningKeys } from '../../storage/keys/signing-keys.ts'
import {
  type ControlPlane,
  type List,
  openControlPlane,
  type Tenant,
} from '../../testing/harness/control-plane.ts'

interface Token {
  token: string
  expires_at: string
  end_user_id: string
}

let plane: ControlPlane
let tenant: Tenant
let path: string
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
  path = `/v1/environments/${tenant.development.id}/playground-token`
})
afterAll(() => plane.close())

const make = (by: { key?: string; cookie?: string }) => plane.call<Token>('POST', path, by)

describe('POST /v1/environments/{envId}/playground-token', () => {
  test('201: a token of 15 minutes for the calling member, with Cache-Control: no-store', async () => {
    const { status, json, headers } = await make({ cookie: tenant.people.developer.cookie })
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store'])
    const { rows } = await plane.database.pool.query('select id from members where user_id = $1', [
      tenant.people.developer.user.id,
    ])
    const now = Math.floor(plane.clock.now() / 1000)
    expect(json).toEqual({
      token: expect.any(String),
      expires_at: new Date((now + 900) * 1000).toISOString(),
      end_user_id: `member:${rows[0].id}`,
    })
    expect(decodeJwt(json.token)).toMatchObject({ sub: json.end_user_id, iat: now, exp: now + 900 })
  })

  test('201: a management key gets an end user of its own', async () => {
    const { rows } = await plane.database.pool.query(
      `select id from management_keys where org_id = $1 and role = 'admin'`,
      [tenant.organization.id],
    )
    expect((await make({ key: tenant.keys.admin })).json.end_user_id).toBe(`member:${rows[0].id}`)
  })

  test('403 insufficient_role for a viewer, by session and by key', async () => {
    expect((await make({ cookie: tenant.people.viewer.cookie })).outcome).toBe('403 insufficient_role')
    expect((await make({ key: tenant.keys.viewer })).outcome).toBe('403 insufficient_role')
  })

  test('names no plan, so that another default plan applies to live tokens at once', async () => {
    const plans = `/v1/environments/${tenant.development.id}/plans`
    await plane.call('POST', plans, { key: tenant.keys.admin, body: { name: 'free', is_default: true } })
    expect(decodeJwt((await make({ key: tenant.keys.admin })).json.token).plan).toBeNull()
  })

  test('its audit entry names the actor and the environment, and contains no token', async () => {
    // Entries are listed by time.
    plane.clock.advance(1000)
    const { json } = await make({ key: tenant.keys.admin })
    const log = await plane.call<List<{ operation: string; after: object }>>(
      'GET',
      `/v1/orgs/${tenant.organization.id}/audit-log?limit=1`,
      { key: tenant.keys.admin },
    )
    const { token, ...shown } = json
    expect(log.json.data[0]).toMatchObject({
      operation: 'playground_tokens.create',
      resource: { id: tenant.development.id },
      after: shown,
    })
    expect(log.text + plane.logged()).not.toContain(token.split('.')[2])
  })

  test('the control plane rejects the token as a credential', async () => {
    const { json } = await make({ key: tenant.keys.admin })
    expect((await make({ key: json.token })).outcome).toBe('401 invalid_key')
  })
})

test('503 signing_key_unavailable with Retry-After if the signing key cannot be decrypted', async () => {
  const locked = await openControlPlane()
  try {
    const there = await locked.insertTenant('acme')
    const other = openSecretBox(Buffer.alloc(32, 9), systemRandom)
    await updateSigningKeys(locked.database.db, { ...locked, secretBox: other }, locked.clock.now())
    const { outcome, headers } = await locked.call(
      'POST',
      `/v1/environments/${there.development.id}/playground-token`,
      { key: there.keys.admin },
    )
    expect(outcome).toBe('503 signing_key_unavailable')
    expect(headers.get('retry-after')).toBe('5')
  } finally {
    await locked.close()
  }
})
