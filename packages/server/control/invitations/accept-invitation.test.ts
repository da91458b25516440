import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type ControlPlane,
  openControlPlane,
  PASSWORD,
  type Tenant,
} from '../../testing/harness/control-plane.ts'

const NEW_PASSWORD = 'another long password'

let plane: ControlPlane
let tenant: Tenant
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
})
afterAll(() => plane.close())
// Attempts are limited per minute.
beforeEach(() => plane.clock.advance(60_000))

async function invite(email: string, role = 'developer'): Promise<string> {
  const path = `/v1/orgs/${tenant.organization.id}/members`
  const { json } = await plane.call<{ accept_url: string }>('POST', path, {
    key: tenant.keys.admin,
    body: { email, role },
  })
  return json.accept_url.split('token=')[1] as string
}

const accept = (body: object, options: { cookie?: string; headers?: Record<string, string> } = {}) =>
  plane.call('POST', '/v1/invitations/accept', { ...options, body })
const signIn = (email: string, password: string) =>
  plane.call<{ memberships: { role: string }[] }>('POST', '/v1/session', { body: { email, password } })

describe('POST /v1/invitations/accept', () => {
  test('200: a password creates the account of the invited address, once', async () => {
    const email = `${plane.newId()}@example.com`
    const token = await invite(email)
    const accepted = await accept({ token, password: NEW_PASSWORD, name: 'New' })
    expect(accepted.outcome).toBe('200')
    expect(accepted.json).toMatchObject({
      org_id: tenant.organization.id,
      user: { email, name: 'New' },
      role: 'developer',
      accepted_at: new Date(plane.clock.now()).toISOString(),
    })
    expect((await signIn(email, NEW_PASSWORD)).json.memberships).toMatchObject([{ role: 'developer' }])
    expect((await accept({ token, password: NEW_PASSWORD })).outcome).toBe('404 resource_not_found token')
  })

  test('an existing account joins with its password', async () => {
    const person = await plane.insertPerson()
    const token = await invite(person.user.email)
    expect((await accept({ token, password: PASSWORD })).outcome).toBe('200')
    expect((await signIn(person.user.email, PASSWORD)).json.memberships).toHaveLength(1)
  })

  test('the link alone changes nothing in an existing account: another password makes an account of its own', async () => {
    const person = await plane.insertPerson()
    const token = await invite(person.user.email)
    expect((await accept({ token, password: NEW_PASSWORD })).outcome).toBe('200')
    expect((await signIn(person.user.email, PASSWORD)).json.memberships).toHaveLength(0)
    expect((await signIn(person.user.email, NEW_PASSWORD)).json.memberships).toHaveLength(1)
    const own = await plane.call<{ memberships: [] }>('GET', '/v1/session', { cookie: person.cookie })
    expect(own.json.memberships).toEqual([])
  })

  test('an existing account joins with its own session and no other', async () => {
    const person = await plane.insertPerson()
    const other = await plane.insertPerson()
    const token = await invite(person.user.email)
    expect((await accept({ token }, { cookie: other.cookie })).outcome).toBe('400 invalid_request password')
    const headers = { cookie: person.cookie }
    expect((await accept({ token }, { headers })).outcome).toBe('403 csrf_failed X-Rideau-CSRF')
    expect((await accept({ token }, { cookie: person.cookie })).outcome).toBe('200')
  })

  test('without a password the response does not reveal whether there is an account', async () => {
    const person = await plane.insertPerson()
    const known = await accept({ token: await invite(person.user.email) })
    const unknown = await accept({ token: await invite(`${plane.newId()}@example.com`) })
    expect([known.outcome, unknown.outcome]).toEqual(Array(2).fill('400 invalid_request password'))
  })

  test('403 csrf_failed for a page of another site', async () => {
    const token = await invite(`${plane.newId()}@example.com`)
    const headers = { origin: 'https://evil.example' }
    expect((await accept({ token, password: NEW_PASSWORD }, { headers })).outcome).toBe(
      '403 csrf_failed Origin',
    )
  })

  test('404 resource_not_found for an unknown or expired invitation, or a deleted organization', async () => {
    const password = NEW_PASSWORD
    expect((await accept({ token: 'x', password })).outcome).toBe('404 resource_not_found token')
    const over = await invite(`${plane.newId()}@example.com`)
    plane.clock.advance(7 * 24 * 3_600_000)
    expect((await accept({ token: over, password })).outcome).toBe('404 resource_not_found token')
    const doomed = await plane.insertTenant('doomed')
    const { json } = await plane.call<{ accept_url: string }>(
      'POST',
      `/v1/orgs/${doomed.organization.id}/members`,
      { key: doomed.keys.admin, body: { email: 'x@example.com', role: 'viewer' } },
    )
    const { cookie } = doomed.people.owner
    const deleted = await plane.call('DELETE', `/v1/orgs/${doomed.organization.id}`, { cookie })
    expect(deleted.outcome).toBe('204')
    const token = json.accept_url.split('token=')[1]
    expect((await accept({ token, password })).outcome).toBe('404 resource_not_found token')
  })

  test('one of several concurrent uses of a link succeeds', async () => {
    const token = await invite(`${plane.newId()}@example.com`)
    const answers = await Promise.all([1, 2, 3].map(() => accept({ token, password: NEW_PASSWORD })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404])
  })

  test('400 invalid_request for a short password', async () => {
    const token = await invite(`${plane.newId()}@example.com`)
    expect((await accept({ token, password: 'short' })).outcome).toBe('400 invalid_request password')
  })
})
