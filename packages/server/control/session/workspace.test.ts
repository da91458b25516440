import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type ControlPlane,
  openControlPlane,
  SETUP_TOKEN,
  type Tenant,
} from '../../testing/harness/control-plane.ts'

let plane: ControlPlane
let tenant: Tenant
let other: Tenant
beforeAll(async () => {
  plane = await openControlPlane()
})
afterAll(() => plane.close())

describe('GET /v1/session/options', () => {
  const options = async () => (await plane.call('GET', '/v1/session/options')).json

  test('says without a credential whether set-up is open, and set-up signs its owner in', async () => {
    expect(await options()).toEqual({ setup_open: true, oidc: false })
    const setup = await plane.call('POST', '/v1/setup', {
      body: {
        setup_token: SETUP_TOKEN,
        email: 'ada@example.com',
        password: 'correct horse battery',
        organization: { name: 'Engines' },
      },
    })
    const cookie = setup.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
    expect(cookie).toMatch(/^rideau_session=/)
    const { json } = await plane.call('GET', '/v1/session/bootstrap', { cookie })
    expect(json).toMatchObject({
      user: { email: 'ada@example.com' },
      organizations: [{ slug: 'engines', role: 'owner', projects: [{ slug: 'default' }] }],
    })
    expect(await options()).toEqual({ setup_open: false, oidc: false })
  })

  test('a refused set-up sets no cookie', async () => {
    const body = {
      setup_token: SETUP_TOKEN,
      email: 'eve@example.com',
      password: 'correct horse battery',
      organization: { name: 'Other' },
    }
    const { outcome, headers } = await plane.call('POST', '/v1/setup', { body })
    expect(outcome).toBe('403 setup_closed')
    expect(headers.getSetCookie()).toEqual([])
  })
})

describe('GET /v1/session/bootstrap', () => {
  beforeAll(async () => {
    tenant = await plane.insertTenant('acme')
    other = await plane.insertTenant('other')
  })

  const load = async (cookie: string) =>
    (await plane.call<any>('GET', '/v1/session/bootstrap', { cookie })).json

  test('has the user, their role, projects and environments, and the addresses of the gateway', async () => {
    const { user, cookie } = tenant.people.developer
    expect(await load(cookie)).toEqual({
      user: { id: user.id, email: user.email, name: null },
      expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
      gateway_url: 'http://127.0.0.1:1',
      prefixes: { openai: '/openai' },
      has_more: false,
      organizations: [
        {
          id: tenant.organization.id,
          name: 'acme',
          slug: tenant.organization.slug,
          time_zone: 'UTC',
          role: 'developer',
          member_id: expect.any(String),
          projects: [
            {
              id: tenant.project.id,
              name: tenant.project.name,
              slug: tenant.project.slug,
              environments: [
                { id: tenant.development.id, name: 'development' },
                { id: tenant.production.id, name: 'production' },
              ],
            },
          ],
        },
      ],
    })
  })

  test('lists every organization of the user and none of others', async () => {
    const person = await plane.insertPerson()
    expect((await load(person.cookie)).organizations).toEqual([])
    await plane.insertMember(other.organization.id, person, 'viewer')
    await plane.insertMember(tenant.organization.id, person, 'owner')
    const { organizations } = await load(person.cookie)
    expect(organizations.map((each: any) => [each.id, each.role]).sort()).toEqual(
      [
        [other.organization.id, 'viewer'],
        [tenant.organization.id, 'owner'],
      ].sort(),
    )
  })

  test('leaves deleted projects out and keeps an organization without any', async () => {
    const lonely = await plane.insertTenant('lonely')
    const { cookie } = lonely.people.owner
    expect((await plane.call('DELETE', `/v1/projects/${lonely.project.id}`, { cookie })).status).toBe(204)
    expect((await load(cookie)).organizations).toMatchObject([{ name: 'lonely', projects: [] }])
  })

  test('401 unauthenticated without a session; 403 insufficient_role for a management key', async () => {
    expect((await plane.call('GET', '/v1/session/bootstrap')).outcome).toBe('401 unauthenticated')
    const keyed = await plane.call('GET', '/v1/session/bootstrap', { key: tenant.keys.admin })
    expect(keyed.outcome).toBe('403 insufficient_role')
  })
})

describe('POST /v1/invitations/lookup', () => {
  const lookup = (token: string) => plane.call<any>('POST', '/v1/invitations/lookup', { body: { token } })

  test('names organization, role and address, and changes nothing; 404 once it is used or expired', async () => {
    const invited = await plane.call<any>('POST', `/v1/orgs/${tenant.organization.id}/members`, {
      cookie: tenant.people.owner.cookie,
      body: { email: 'new@example.com', role: 'viewer' },
    })
    const token = new URL(invited.json.accept_url).hash.slice('#token='.length)
    for (let n = 0; n < 2; n++) {
      expect((await lookup(token)).json).toEqual({
        organization: { name: 'acme' },
        email: 'new@example.com',
        role: 'viewer',
        expires_at: expect.any(String),
      })
    }
    plane.clock.advance(8 * 24 * 3_600_000)
    expect((await lookup(token)).outcome).toBe('404 resource_not_found token')
    expect((await lookup('unknown')).outcome).toBe('404 resource_not_found token')
  })
})
