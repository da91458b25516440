import { generateKeyPairSync, sign } from 'node:crypto'
import type { FederatedConfig } from '../../packages/server/core/tenancy/federated-config.ts'
import { verifyIdentityToken } from '../../packages/server/identity/verify-identity-token.ts'
import { edit, Input } from '../input.ts'
import { assert, assertEqual } from '../oracle.ts'

const NOW = Date.UTC(2031, 4, 14)
const SECONDS = NOW / 1000
const ISSUER = 'https://id.example'
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const keySets = new Map([
  [ISSUER, { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'ES256' }] }],
])

const CONFIG: FederatedConfig = {
  issuers: [ISSUER],
  audiences: ['app'],
  authorizedParties: [],
  jwksUrl: null,
  algorithms: ['ES256', 'RS256'],
  userIdClaim: 'sub',
  planClaim: 'plan',
  requiredClaims: { email_verified: [true] },
  clockToleranceSeconds: 60,
  maxTokenAgeSeconds: 3600,
}

const HEADER = { alg: 'ES256', kid: 'k', typ: 'JWT' }
const CLAIMS = {
  iss: ISSUER,
  aud: 'app',
  sub: 'user',
  plan: 'pro',
  email_verified: true,
  iat: SECONDS - 10,
  exp: SECONDS + 600,
}

function signToken(header: Buffer, payload: Buffer): string {
  const text = `${header.toString('base64url')}.${payload.toString('base64url')}`
  const signature = sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

const [HEADER_BYTES, CLAIM_BYTES] = [Buffer.from(JSON.stringify(HEADER)), Buffer.from(JSON.stringify(CLAIMS))]
const GENUINE = signToken(HEADER_BYTES, CLAIM_BYTES)

export const seeds = [
  '\x00\x01\x00\x10\x00a',
  '\x01a.b.c',
  `\x02${JSON.stringify(CLAIMS)}`,
  `\x02${JSON.stringify({ ...CLAIMS, aud: ['app', 'x'], plan: null, email_verified: [true] })}`,
  `\x03${JSON.stringify({ ...HEADER, crit: ['b64'], b64: false })}`,
].map(text => Buffer.from(text, 'latin1'))

/** Only what was signed may be accepted, and of that only what the configuration allows. */
function checkAccepted(
  payload: Buffer,
  result: { readonly endUserId: string; readonly plan: string | null },
): void {
  const claims = JSON.parse(payload.toString('utf8')) as Record<string, unknown>
  assertEqual(claims.iss, ISSUER, 'the issuer')
  assert([claims.aud].flat().includes('app'), 'the audience')
  assertEqual(claims.sub, result.endUserId, 'the user id is the claim')
  assert(result.endUserId.length > 0 && result.endUserId.length <= 255, 'a user id of 1 to 255 characters')
  assert(!/^(?:device|member):|\p{Cc}/u.test(result.endUserId), 'no reserved user id')
  assertEqual(result.plan, claims.plan ?? null, 'the plan is the claim')
  assert([claims.email_verified].flat().includes(true), 'the required claim')
  const [iat, exp] = [claims.iat, claims.exp] as [number, number]
  assert(exp > SECONDS - 61 && iat <= SECONDS + 60 && SECONDS - iat <= 3660, 'the times')
}

export async function fuzz(data: Buffer): Promise<void> {
  const input = new Input(data)
  const kind = input.byte() % 4
  const rest = kind === 0 ? edit(Buffer.from(GENUINE), input) : input.rest()
  const token =
    kind < 2
      ? rest.toString('latin1')
      : kind === 2
        ? signToken(HEADER_BYTES, rest)
        : signToken(rest, CLAIM_BYTES)
  const result = await verifyIdentityToken(token, CONFIG, keySets, NOW)
  if (kind < 2) assertEqual(result.valid, token === GENUINE, 'a token is accepted unchanged only')
  if (!result.valid) return
  checkAccepted(kind === 2 ? rest : CLAIM_BYTES, result)
  if (kind === 3)
    assert(/^(?:JWT)?$/i.test((JSON.parse(rest.toString('utf8')) as { typ?: string }).typ ?? ''), 'the type')
}
