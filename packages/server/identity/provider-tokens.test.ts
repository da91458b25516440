import { generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FederatedConfig } from '../core/tenancy/federated-config.ts'
import { openConfiguredEgress } from '../http/egress/open-egress.ts'
import { type IdentityProvider, KEYS, openIdentityProvider } from '../testing/fakes/identity-provider.ts'
import { fetchKeySets, type KeySets } from './key-sets.ts'
import { verifyIdentityToken } from './verify-identity-token.ts'

const NOW = Date.parse('2031-05-14T10:30:00Z')
const SECONDS = NOW / 1000

type Claims = Readonly<Record<string, unknown>>

interface Provider {
  readonly name: string
  readonly config: Partial<FederatedConfig> & Pick<FederatedConfig, 'issuers'>
  /** The fields of a key besides the key itself. Entra names no algorithm. */
  readonly jwk?: JsonWebKey
  readonly algorithm?: 'RS256' | 'ES256'
  /** The claims of a token that is accepted. iat and exp are added. */
  readonly claims: Claims
  readonly endUserId: string
  readonly plan?: string
  /** Changes after which the token is still accepted. */
  readonly accepted?: readonly (readonly [string, Claims])[]
  /** Tokens that the same provider signs with the same key, and that must not be accepted. */
  readonly refused: readonly (readonly [string, Claims])[]
}

const PROJECT = 'my-project'
const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47'

const PROVIDERS: readonly Provider[] = [
  {
    name: 'Auth0',
    config: {
      issuers: ['https://acme.auth0.com/'],
      audiences: ['kZ3client'],
      planClaim: 'https://acme.example/plan',
    },
    claims: {
      iss: 'https://acme.auth0.com/',
      aud: 'kZ3client',
      sub: 'auth0|65f0c1d2',
      'https://acme.example/plan': 'pro',
      nickname: 'alice',
      email_verified: true,
    },
    endUserId: 'auth0|65f0c1d2',
    plan: 'pro',
    refused: [
      ['without the slash of the issuer', { iss: 'https://acme.auth0.com' }],
      ['for another application', { aud: 'other' }],
      ['for an API', { aud: ['https://api.acme.example', 'https://acme.auth0.com/userinfo'] }],
    ],
  },
  {
    name: 'Clerk',
    config: {
      issuers: ['https://clerk.acme.example'],
      audiences: [],
      authorizedParties: ['https://app.acme.example'],
    },
    claims: {
      iss: 'https://clerk.acme.example',
      azp: 'https://app.acme.example',
      sub: 'user_2abc',
      sid: 'sess_2def',
      nbf: SECONDS - 10,
      exp: SECONDS + 60,
    },
    endUserId: 'user_2abc',
    accepted: [['with an audience of its template', { aud: 'anything' }]],
    refused: [
      ['from another origin', { azp: 'https://evil.example' }],
      ['without an origin', { azp: undefined }],
    ],
  },
  {
    name: 'Firebase',
    config: { issuers: [`https://securetoken.google.com/${PROJECT}`], audiences: [PROJECT] },
    claims: {
      iss: `https://securetoken.google.com/${PROJECT}`,
      aud: PROJECT,
      auth_time: SECONDS - 500,
      user_id: 'Zq1',
      sub: 'Zq1',
      firebase: { identities: {}, sign_in_provider: 'anonymous' },
    },
    endUserId: 'Zq1',
    // All projects of Firebase share one key set.
    refused: [
      ['of another project', { iss: 'https://securetoken.google.com/other', aud: 'other' }],
      ['of another project for this one', { iss: 'https://securetoken.google.com/other' }],
      ['for another project', { aud: 'other' }],
    ],
  },
  {
    name: 'Supabase',
    config: {
      issuers: ['https://abcdefgh.supabase.co/auth/v1'],
      audiences: ['authenticated'],
      requiredClaims: { role: ['authenticated'], is_anonymous: [false] },
    },
    algorithm: 'ES256',
    claims: {
      iss: 'https://abcdefgh.supabase.co/auth/v1',
      aud: 'authenticated',
      sub: '0d1c3cfe-b8a7-4d2f-9f4d-0e8d6a9ad1b0',
      role: 'authenticated',
      aal: 'aal1',
      is_anonymous: false,
    },
    endUserId: '0d1c3cfe-b8a7-4d2f-9f4d-0e8d6a9ad1b0',
    refused: [
      ["that is the app's own key", { role: 'anon', aud: undefined, sub: undefined }],
      ['of the service', { role: 'service_role' }],
      ['of an anonymous user', { is_anonymous: true }],
    ],
  },
  {
    name: 'Cognito',
    config: {
      issuers: ['https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_AbCdEf'],
      audiences: ['7client'],
      requiredClaims: { token_use: ['id'] },
      planClaim: 'custom:plan',
    },
    claims: {
      iss: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_AbCdEf',
      aud: '7client',
      sub: 'b7f0-sub',
      token_use: 'id',
      'cognito:username': 'alice',
      'custom:plan': 'free',
    },
    endUserId: 'b7f0-sub',
    plan: 'free',
    refused: [
      ['for access', { aud: undefined, client_id: '7client', token_use: 'access' }],
      ['for access with an audience', { token_use: 'access' }],
    ],
  },
  {
    name: 'Google',
    config: {
      issuers: ['https://accounts.google.com', 'accounts.google.com'],
      audiences: ['web.apps.googleusercontent.com'],
      requiredClaims: { email_verified: [true] },
    },
    claims: {
      iss: 'https://accounts.google.com',
      azp: 'android.apps.googleusercontent.com',
      aud: 'web.apps.googleusercontent.com',
      sub: '110169484474386276334',
      email: 'a@example.com',
      email_verified: true,
    },
    endUserId: '110169484474386276334',
    accepted: [['of the issuer in its short form', { iss: 'accounts.google.com' }]],
    refused: [
      ['of an unverified address', { email_verified: false }],
      ['with text in place of true', { email_verified: 'true' }],
      ['of an issuer that only begins so', { iss: 'https://accounts.google.com.evil.example' }],
    ],
  },
  {
    name: 'Apple',
    config: { issuers: ['https://appleid.apple.com'], audiences: ['com.example.app'] },
    claims: {
      iss: 'https://appleid.apple.com',
      aud: 'com.example.app',
      sub: '001234.a1b2c3.0042',
      nonce_supported: true,
      email_verified: 'true',
      exp: SECONDS - 5 + 86_400,
    },
    endUserId: '001234.a1b2c3.0042',
    refused: [
      ['for another app', { aud: 'com.example.other' }],
      ['of server-to-server events', { sub: undefined, events: '{}' }],
    ],
  },
  {
    name: 'Entra',
    config: {
      issuers: [`https://login.microsoftonline.com/${TENANT}/v2.0`],
      audiences: ['6e74172b-be56-4843-9ff4-e66a39bb12e3'],
      userIdClaim: 'oid',
      requiredClaims: { tid: [TENANT] },
    },
    jwk: {
      x5t: 'abc',
      x5c: ['MII'],
      issuer: `https://login.microsoftonline.com/${TENANT}/v2.0`,
    } as JsonWebKey,
    claims: {
      iss: `https://login.microsoftonline.com/${TENANT}/v2.0`,
      aud: '6e74172b-be56-4843-9ff4-e66a39bb12e3',
      sub: 'pairwise-per-app',
      oid: '690222be-ff1a-4d56-abd1-7e4f7d38e474',
      tid: TENANT,
      ver: '2.0',
    },
    endUserId: '690222be-ff1a-4d56-abd1-7e4f7d38e474',
    refused: [
      ['of another tenant', { iss: 'https://login.microsoftonline.com/9188040d/v2.0', tid: '9188040d' }],
      ['of version 1', { iss: `https://sts.windows.net/${TENANT}/` }],
      ['of an application without a user', { oid: undefined }],
    ],
  },
  {
    name: 'Okta',
    config: { issuers: ['https://acme.okta.com/oauth2/default'], audiences: ['0oaclient'] },
    claims: {
      iss: 'https://acme.okta.com/oauth2/default',
      aud: '0oaclient',
      sub: '00uid4BxXw6I6TV4m0g3',
      ver: 1,
      amr: ['pwd'],
      idp: '00o',
    },
    endUserId: '00uid4BxXw6I6TV4m0g3',
    refused: [
      ['of another authorization server', { iss: 'https://acme.okta.com' }],
      ['for access', { aud: 'api://default', cid: '0oaclient' }],
    ],
  },
  {
    name: 'Keycloak',
    config: {
      issuers: ['https://id.acme.example/realms/main'],
      audiences: ['web'],
      requiredClaims: { typ: ['ID'] },
    },
    claims: {
      iss: 'https://id.acme.example/realms/main',
      aud: 'web',
      azp: 'web',
      sub: 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
      typ: 'ID',
      acr: '1',
    },
    endUserId: 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
    refused: [
      ['for access', { typ: 'Bearer', aud: 'account' }],
      ['for refreshing', { typ: 'Refresh' }],
      ['of another realm', { iss: 'https://id.acme.example/realms/other' }],
    ],
  },
]

let idp: IdentityProvider
beforeAll(async () => {
  idp = await openIdentityProvider()
})
afterAll(() => idp.close())

const KEY_PAIRS = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
}

const OTHER_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' })

describe.each(PROVIDERS)(
  'a token of $name',
  ({ config, jwk, algorithm = 'RS256', claims, endUserId, plan, accepted = [], refused }) => {
    const full: FederatedConfig = {
      audiences: [],
      authorizedParties: [],
      jwksUrl: null,
      algorithms: ['RS256', 'ES256'],
      userIdClaim: 'sub',
      planClaim: null,
      requiredClaims: {},
      clockToleranceSeconds: 30,
      maxTokenAgeSeconds: 86_400,
      ...config,
    }
    const keys = KEY_PAIRS[algorithm]

    /** The provider's key set as it is fetched, among keys that do not sign tokens. */
    async function loadKeySets(): Promise<KeySets> {
      const own = { ...keys.publicKey.export({ format: 'jwk' }), kid: 'current', use: 'sig' }
      const signing = jwk === undefined ? { ...own, alg: algorithm } : { ...own, ...jwk }
      const encryption = { ...OTHER_KEY, kid: 'enc', use: 'enc', alg: 'RSA-OAEP' }
      const body = { keys: [encryption, { ...OTHER_KEY, kid: 'next', use: 'sig', alg: 'RS256' }, signing] }
      idp.answers.set(KEYS, { body })
      return fetchKeySets({ ...full, jwksUrl: idp.jwksUrl }, openConfiguredEgress({ allowPrivate: true }))
    }

    const sign = (change: Claims, key: KeyObject = keys.privateKey) =>
      new SignJWT({ iat: SECONDS - 5, exp: SECONDS + 3600, ...claims, ...change })
        .setProtectedHeader({ alg: algorithm, kid: 'current', typ: 'JWT' })
        .sign(key)
    const verify = async (token: string) => verifyIdentityToken(token, full, await loadKeySets(), NOW)

    test('gives its user and plan', async () => {
      expect(await verify(await sign({}))).toEqual({ valid: true, endUserId, plan: plan ?? null })
    })

    test.each(accepted)('is accepted as well if it is one %s', async (_, change) => {
      expect(await verify(await sign(change))).toMatchObject({ valid: true, endUserId })
    })

    test.each(refused)('is refused if it is one %s', async (_, change) => {
      expect(await verify(await sign(change))).toMatchObject({ valid: false })
    })

    test('is refused if it has expired, or another key signed it', async () => {
      const old = await sign({ iat: SECONDS - 100, exp: SECONDS - 31 })
      expect(await verify(old)).toMatchObject({ valid: false, reason: 'It has expired.' })
      const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
      const forged =
        algorithm === 'ES256' ? await sign({}, stranger) : `${(await sign({})).slice(0, -9)}AAAAAAAAA`
      expect(await verify(forged)).toMatchObject({ valid: false, reason: 'Its signature is wrong.' })
    })
  },
)
