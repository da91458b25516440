import type { JSONWebKeySet } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openConfiguredEgress } from '../../http/egress/open-egress.ts'
import { KeySetCache } from '../../identity/key-set-cache.ts'
import { fetchKeySets } from '../../identity/key-sets.ts'
import { type IdentityProvider, KEYS, openIdentityProvider } from '../../testing/fakes/identity-provider.ts'
import { openTestApp, TEST_OVERRIDES, type TestApp } from '../../testing/harness/app.ts'
import { readVectorFiles } from '../../testing/harness/attestation-vectors.ts'
import type { GatewayDeps } from '../deps.ts'

interface HostileTokens {
  readonly now: string
  readonly config: {
    readonly issuer: string
    readonly audiences: readonly string[]
    readonly authorizedParties: readonly string[]
    readonly algorithms: readonly string[]
    readonly planClaim: string
  }
  readonly jwks: JSONWebKeySet
  readonly vectors: readonly {
    readonly name: string
    readonly token: string
    readonly expect: string
    readonly sub?: string
  }[]
}

let app: TestApp
let deps: GatewayDeps
let now: number | undefined
let address = 0
beforeAll(async () => {
  app = await openTestApp(
    { RIDEAU_TRUSTED_PROXIES: '127.0.0.1' },
    {
      ...TEST_OVERRIDES,
      onDeps: made => {
        deps = made
        Object.assign(made, { now: () => now ?? Date.now() })
      },
    },
  )
})
afterAll(() => app.close())

/** Each call has an address and a key of its own, so that no mint limit is reached. */
async function exchange(
  token: string,
  made?: { key: string },
): Promise<{ outcome: string; endUser: unknown }> {
  const { key } = made ?? (await app.createKey({ kind: 'publishable' }))
  const headers = { 'x-forwarded-for': `203.0.${address >> 8}.${address++ & 255}` }
  const body = { identity_token: token, scopes: ['ai.chat'] }
  const response = await app.call('/v1/client-tokens', body, { key, headers })
  const answer = (await response.json()) as { error?: { code: string }; end_user_id?: string }
  return { outcome: [response.status, answer.error?.code].join(' ').trim(), endUser: answer.end_user_id }
}

const sets = readVectorFiles<HostileTokens>('jwt-adversarial.json', 57)

describe.each(sets)('hostile tokens over HTTP, set $#', ({ config, jwks, vectors, now: at }) => {
  const configure = async (parties: readonly string[]): Promise<void> => {
    const { issuer, audiences, algorithms, planClaim } = config
    const { pool } = app.database
    // Its host does not exist, so the settings are not set by the control plane.
    await pool.query(
      `insert into federated_auth (project_id, org_id, issuers, audiences, authorized_parties, algorithms, user_id_claim,
          plan_claim, required_claims, clock_tolerance_seconds, max_token_age_seconds, created_at, updated_at)
        values ($1, $2, $3, $4, $5, $6, 'sub', $7, '{}', 30, 86400, now(), now())
        on conflict (project_id) do update set authorized_parties = $5`,
      [app.projectId, app.orgId, [issuer], audiences, parties, algorithms, planClaim],
    )
    // A change by the control plane answers once the gateway has applied every change so far.
    await app.manage('PATCH', `/v1/projects/${app.projectId}`, { name: `P${Math.random()}` })
  }

  test.each([true, false])('that are about the authorized party: %s', async isAboutParty => {
    const fetch = async () => new Map([[config.issuer, jwks]])
    Object.assign(deps, { keySets: new KeySetCache({ fetch, clock: { now: () => deps.now() } }) })
    await configure(isAboutParty ? config.authorizedParties : [])
    const concerned = vectors.filter(({ name }) => name.includes('azp') === isAboutParty)
    expect(concerned.length).toBeGreaterThan(0)
    for (const vector of concerned) {
      now = undefined
      const made = await app.createKey({ kind: 'publishable' })
      now = Date.parse(at)
      const { outcome, endUser } = await exchange(vector.token, made)
      now = undefined
      const named = `${vector.name}: ${outcome}`
      if (vector.expect === 'accept') {
        expect(named).toBe(`${vector.name}: 201`)
        expect(vector.sub ?? endUser).toBe(endUser)
      } else if (vector.expect !== 'any') {
        expect(named).toMatch(/: 401 invalid_identity_token$|: 400 invalid_request$/)
      }
    }
  })
})

describe('a key set', () => {
  let idp: IdentityProvider
  const open = async (): Promise<void> => {
    idp = await openIdentityProvider()
    const body = { issuer: idp.issuer, jwks_url: idp.jwksUrl, audiences: ['app'] }
    expect((await app.manage('PUT', `/v1/projects/${app.projectId}/federated-auth`, body)).status).toBe(200)
    idp.asked.length = 0
    const policy = openConfiguredEgress({ allowPrivate: true })
    const keySets = new KeySetCache({
      fetch: config => fetchKeySets(config, policy),
      clock: { now: () => Date.now() },
    })
    Object.assign(deps, { keySets })
  }
  afterAll(() => idp.close())

  test('gets federated_config_invalid if it has 10 MB, and is fetched once for many requests', async () => {
    await open()
    idp.answers.set(KEYS, { body: `{"keys":[],"x":"${'x'.repeat(10_000_000)}"}` })
    const token = await idp.sign({}, Date.now())
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => exchange(token)))
    expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['400 federated_config_invalid']))
    expect(idp.asked).toEqual([KEYS])
    await idp.close()
  })

  test('gets federated_config_invalid if its host hangs', async () => {
    await open()
    idp.answers.set(KEYS, { body: {}, after: new Promise(() => {}) })
    const token = await idp.sign({}, Date.now())
    expect((await exchange(token)).outcome).toBe('400 federated_config_invalid')
  }, 30_000)
})
