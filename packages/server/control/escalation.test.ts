import fc from 'fast-check'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import {
  type ControlPlane,
  openControlPlane,
  PASSWORD,
  type Tenant,
} from '../testing/harness/control-plane.ts'

let plane: ControlPlane

beforeAll(async () => {
  plane = await openControlPlane()
})
afterAll(async () => {
  await plane.close()
})

const ROLES = ['viewer', 'developer', 'admin', 'owner'] as const
type Role = (typeof ROLES)[number]
const KEY_ROLES = ['viewer', 'developer', 'admin'] as const

/** A credential as `call` takes it: a session's cookie or a management key. */
interface Credential {
  readonly cookie?: string | undefined
  readonly key?: string
  readonly role: Role
}

const step = fc.record({
  /** Index of the credential that makes the call. */
  by: fc.nat(),
  what: fc.constantFrom('management key', 'invitation', 'promotion', 'reset link', 'gateway key'),
  role: fc.constantFrom(...ROLES),
})
const start = fc.oneof(
  fc.record({ kind: fc.constant('member' as const), role: fc.constantFrom(...ROLES) }),
  fc.record({ kind: fc.constant('key' as const), role: fc.constantFrom(...KEY_ROLES) }),
)

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
type Start = typeof start extends fc.Arbitrary<infer T> ? T : never

/** One successful sequence of each kind, since random sequences may contain none. */
const EXAMPLES: [Start, Step[]][] = [
  [
    { kind: 'member', role: 'owner' },
    (['management key', 'invitation', 'reset link'] as const).map(what => ({
      by: 0,
      what,
      role: 'developer',
    })),
  ],
]

/** Returns the session's actual role in the organization, read from the control plane. */
async function roleOf(cookie: string, orgId: string): Promise<Role | undefined> {
  const { status, json } = await plane.call<{
    memberships: { role: Role; organization: { id: string } }[]
  }>('GET', '/v1/session', { cookie })
  // A reset link ends the sessions of the user whose password it sets.
  if (status === 401) return undefined
  return json.memberships.find(({ organization }) => organization.id === orgId)?.role
}

/** Returns the response's session cookie, without its attributes. */
function cookieOf(headers: Headers): string | undefined {
  return headers.get('set-cookie')?.split(';', 1)[0]
}

/** The holder of a reset link can sign in as the member. */
async function useResetLink(url: string, role: Role): Promise<Credential> {
  const body = { reset_token: url.split('token=')[1], new_password: PASSWORD }
  const used = await plane.call('POST', '/v1/session/password-reset', { body })
  expect(used.status).toBe(200)
  return { cookie: cookieOf(used.headers), role }
}

/** Makes one call and returns the credentials that the caller gains by it. */
async function take(
  by: Credential,
  { what, role }: { what: string; role: Role },
  tenant: Tenant,
): Promise<Credential[]> {
  const org = `/v1/orgs/${tenant.organization.id}`
  const auth = { cookie: by.cookie, key: by.key }
  if (what === 'management key') {
    const made = await plane.call<{ key: string }>('POST', `${org}/management-keys`, {
      ...auth,
      body: { name: 'x', role },
    })
    return made.status === 201 ? [{ key: made.json.key, role }] : []
  }
  if (what === 'invitation') {
    const body = { email: `${plane.newId()}@example.com`, role }
    const made = await plane.call<{ accept_url: string }>('POST', `${org}/members`, { ...auth, body })
    if (made.status !== 201) return []
    const token = made.json.accept_url.split('token=')[1]
    const accepted = await plane.call('POST', '/v1/invitations/accept', {
      body: { token, password: PASSWORD },
    })
    const signedIn = await plane.call('POST', '/v1/session', {
      body: { email: body.email, password: PASSWORD },
    })
    const cookie = cookieOf(signedIn.headers) ?? cookieOf(accepted.headers)
    return cookie === undefined
      ? []
      : [{ cookie, role: (await roleOf(cookie, tenant.organization.id)) ?? 'viewer' }]
  }
  if (what === 'promotion' || what === 'reset link') {
    const members = await plane.call<{ data: { id: string; role: Role }[] }>('GET', `${org}/members`, auth)
    const taken: Credential[] = []
    if (members.status === 401) return [] // A session that a reset link has ended.
    for (const member of members.json.data) {
      const path = `/v1/members/${member.id}`
      if (what === 'promotion') await plane.call('PATCH', path, { ...auth, body: { role } })
      else {
        const link = await plane.call<{ reset_url: string }>('POST', `${path}/reset-link`, auth)
        if (link.status < 300) taken.push(await useResetLink(link.json.reset_url, member.role))
      }
    }
    return taken
  }
  await plane.call('POST', `/v1/environments/${tenant.development.id}/keys`, {
    ...auth,
    body: { kind: 'secret', name: 'x' },
  })
  return []
}

test('no sequence of calls gives its caller a credential with a right that the caller lacked', async () => {
  let taken = 0
  await fc.assert(
    fc.asyncProperty(start, fc.array(step, { minLength: 1, maxLength: 6 }), async (begin, steps) => {
      const tenant = await plane.insertTenant(`tenant ${plane.newId()}`)
      const other = await plane.insertTenant(`other ${plane.newId()}`)
      const own: Credential =
        begin.kind === 'member'
          ? { cookie: tenant.people[begin.role].cookie, role: begin.role }
          : { key: tenant.keys[begin.role], role: begin.role }
      const held = [own]
      const rank = ROLES.indexOf(begin.role)
      for (const each of steps) {
        // Stay below the limits on sign-ins, which this test does not cover.
        plane.clock.advance(61_000)
        held.push(...(await take(held[each.by % held.length] as Credential, each, tenant)))
      }
      taken += held.length - 1
      for (const credential of held) {
        const role =
          credential.cookie === undefined
            ? credential.role
            : await roleOf(credential.cookie, tenant.organization.id)
        expect(ROLES.indexOf(role ?? 'viewer')).toBeLessThanOrEqual(rank)
        const { cookie, key } = credential
        const foreign = await plane.call('GET', `/v1/orgs/${other.organization.id}`, { cookie, key })
        expect([401, 404]).toContain(foreign.status)
      }
    }),
    // Fewer runs on a second database server, which does not affect permissions.
    { numRuns: inject('pg').label.startsWith('embedded') ? 40 : 10, examples: EXAMPLES },
  )
  // At least some sequences gain credentials; otherwise the test would prove nothing.
  expect(taken).toBeGreaterThanOrEqual(3)
}, 600_000)
