import { scryptSync } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hashKeyText } from '../../core/access/key-format.ts'
import { type ControlPlane, openControlPlane, SETUP_TOKEN } from '../../testing/harness/control-plane.ts'

interface Setup {
  user: { id: string; email: string; name: string | null }
  organization: { id: string; name: string; slug: string }
  project: { id: string; org_id: string }
  environments: { id: string; name: string; is_default: boolean; log_capture: string }[]
  management_key: { key: string; role: string; org_id: string; prefix_display: string }
  secret_key: { key: string; kind: string; environment_id: string; scopes: string[]; prefix_display: string }
}

const PASSWORD = 'correct horse battery'
const body = {
  setup_token: SETUP_TOKEN,
  email: '  Ada@Example.COM ',
  password: PASSWORD,
  name: 'Ada',
  organization: { name: 'Änalytical Engines, Ltd.' },
}

let plane: ControlPlane
beforeEach(async () => {
  plane = await openControlPlane()
})
afterEach(() => plane.close())

describe('POST /v1/setup', () => {
  test('201: creates owner, organization, project, two environments and two keys that work', async () => {
    const { status, json } = await plane.call<Setup>('POST', '/v1/setup', { body })
    expect(status).toBe(201)
    expect(json.user).toMatchObject({ email: 'ada@example.com', name: 'Ada' })
    expect(json.organization).toMatchObject({
      name: 'Änalytical Engines, Ltd.',
      slug: 'analytical-engines-ltd',
    })
    expect(json.project.org_id).toBe(json.organization.id)
    expect(json.environments).toMatchObject([
      { name: 'development', is_default: true, log_capture: 'full' },
      { name: 'production', is_default: false, log_capture: 'metadata' },
    ])
    expect(json.management_key).toMatchObject({ role: 'admin', org_id: json.organization.id })
    expect(json.secret_key).toMatchObject({
      kind: 'secret',
      environment_id: json.environments[0]?.id,
      scopes: ['ai.chat', 'ai.embed', 'ai.images', 'feedback'],
    })
    expect(json.secret_key.key).toMatch(/^rd_sk_dev_/)
    expect(plane.writes()).toBe(1)
    const { key } = json.management_key
    const listed = await plane.call<{ data: unknown[] }>('GET', '/v1/orgs', { key })
    expect(listed.json.data).toMatchObject([{ id: json.organization.id }])
    const order = await plane.call<{ data: { name: string }[] }>(
      'GET',
      `/v1/projects/${json.project.id}/environments`,
      { key },
    )
    expect(order.json.data.map(({ name }) => name)).toEqual(['development', 'production'])
  })

  test('stores keys as SHA-256 and the password as scrypt, and none in plaintext', async () => {
    const { json } = await plane.call<Setup>('POST', '/v1/setup', { body })
    const { db } = plane.database
    const user = await db.selectFrom('users').selectAll().executeTakeFirstOrThrow()
    const [, scheme, cost, salt, hash] = (user.password_hash ?? '').split('$')
    expect([scheme, cost]).toEqual(['scrypt', 'ln=17,r=8,p=1'])
    const options = { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 }
    const expected = scryptSync(PASSWORD, Buffer.from(salt ?? '', 'base64'), 32, options)
    expect(Buffer.from(hash ?? '', 'base64')).toEqual(expected)
    const keys = await db.selectFrom('keys').selectAll().execute()
    const management = await db.selectFrom('management_keys').selectAll().execute()
    expect(keys.map(row => row.hash)).toEqual([hashKeyText(json.secret_key.key)])
    expect(management.map(row => row.hash)).toEqual([hashKeyText(json.management_key.key)])
    const stored = JSON.stringify([user, keys, management])
    for (const secret of [PASSWORD, json.secret_key.key, json.management_key.key, SETUP_TOKEN]) {
      expect(stored).not.toContain(secret)
      expect(plane.logged()).not.toContain(secret)
    }
  })

  test('creates a sandbox credential in development and none in production', async () => {
    const { json } = await plane.call<Setup>('POST', '/v1/setup', { body })
    const rows = await plane.database.db.selectFrom('provider_credentials').selectAll().execute()
    expect(rows).toMatchObject([{ provider: 'sandbox', environment_id: json.environments[0]?.id }])
    const [row] = rows
    if (row === undefined) throw new Error('no row')
    expect(plane.secretBox.open(row.secret_cipher, `provider_credentials:${row.id}`)).toBe('')
  })

  test('rejects a second set-up with 403 setup_closed and creates nothing', async () => {
    await plane.call('POST', '/v1/setup', { body })
    const again = await plane.call('POST', '/v1/setup', { body: { ...body, email: 'eve@example.com' } })
    expect(again.outcome).toBe('403 setup_closed')
    const users = await plane.database.db.selectFrom('users').select('email').execute()
    expect(users).toEqual([{ email: 'ada@example.com' }])
  })

  test('exactly one of several concurrent set-ups succeeds', async () => {
    const answers = await Promise.all(
      ['a', 'b', 'c'].map(name =>
        plane.call('POST', '/v1/setup', { body: { ...body, email: `${name}@example.com` } }),
      ),
    )
    const outcomes = answers.map(answer => answer.outcome).sort()
    expect(outcomes).toEqual(['201', '403 setup_closed', '403 setup_closed'])
    expect(await plane.database.db.selectFrom('organizations').select('id').execute()).toHaveLength(1)
  })

  test('rejects a wrong token with 403 setup_closed and creates nothing', async () => {
    const wrong = { ...body, setup_token: `${SETUP_TOKEN}x` }
    expect((await plane.call('POST', '/v1/setup', { body: wrong })).outcome).toBe('403 setup_closed')
    expect(await plane.database.db.selectFrom('users').select('id').execute()).toEqual([])
    expect(plane.writes()).toBe(0)
  })

  test.each([
    ['a short password', { ...body, password: 'nine char' }, 'password'],
    ['a password over 1024 characters', { ...body, password: 'x'.repeat(1025) }, 'password'],
    ['an invalid e-mail address', { ...body, email: 'ada' }, 'email'],
    ['an unknown field', { ...body, role: 'owner' }, 'role'],
    ['an empty organization name', { ...body, organization: { name: ' ' } }, 'organization.name'],
    ['no organization', { ...body, organization: undefined }, 'organization'],
    ['an unknown nested field', { ...body, organization: { name: 'x', slug: 'y' } }, 'organization.slug'],
    ['a NUL in a name', { ...body, name: 'a\0b' }, 'name'],
  ])('400 invalid_request: %s', async (_, sent, param) => {
    const { outcome } = await plane.call('POST', '/v1/setup', { body: sent })
    expect(outcome).toBe(`400 invalid_request ${param}`)
  })
})

test('rejects set-up with 403 setup_closed if there is no token', async () => {
  const closed = await openControlPlane({ setupToken: () => undefined })
  try {
    expect((await closed.call('POST', '/v1/setup', { body })).outcome).toBe('403 setup_closed')
  } finally {
    await closed.close()
  }
})
