import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import type { FederatedConfig } from '../../core/tenancy/federated-config.ts'

type Answer = {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body: unknown
  /** The answer is sent after this resolves. */
  readonly after?: Promise<void>
}

/** An identity provider on loopback whose documents a test can set. A body that is a string is sent unchanged. */
export interface IdentityProvider {
  readonly issuer: string
  readonly jwksUrl: string
  readonly publicKey: JWK
  /** By path: `/.well-known/openid-configuration`, `/keys`. */
  readonly answers: Map<string, Answer>
  /** Requested paths, oldest first. */
  readonly asked: string[]
  /** Signs a token. Adds `iss`, `aud`, `sub`, `iat` and `exp` unless the claims contain them; undefined leaves one out. */
  sign(claims: Record<string, unknown>, now: number, header?: Record<string, unknown>): Promise<string>
  close(): Promise<void>
}

export const DISCOVERY = '/.well-known/openid-configuration'
export const KEYS = '/keys'

/** Returns a project's configuration with the provider, with some changes. */
export function toFederatedConfig(
  { issuer, jwksUrl }: Pick<IdentityProvider, 'issuer' | 'jwksUrl'>,
  change: Partial<FederatedConfig> = {},
): FederatedConfig {
  return {
    issuers: [issuer],
    audiences: ['app'],
    authorizedParties: [],
    jwksUrl,
    algorithms: ['ES256'],
    userIdClaim: 'sub',
    planClaim: null,
    requiredClaims: {},
    clockToleranceSeconds: 30,
    maxTokenAgeSeconds: 3600,
    ...change,
  }
}

export async function openIdentityProvider(): Promise<IdentityProvider> {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }
  const answers = new Map<string, Answer>()
  const asked: string[] = []
  const server = createServer(async (req, res) => {
    asked.push(req.url ?? '')
    const {
      status = 200,
      headers = {},
      body,
      after,
    } = answers.get(req.url ?? '') ?? { status: 404, body: {} }
    await after
    res.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const jwksUrl = `${issuer}${KEYS}`
  answers.set(DISCOVERY, { body: { issuer, jwks_uri: jwksUrl } })
  answers.set(KEYS, { body: { keys: [jwk] } })
  return {
    issuer,
    jwksUrl,
    publicKey: jwk,
    answers,
    asked,
    sign(claims, now, header = {}) {
      const iat = Math.floor(now / 1000)
      const payload = { iss: issuer, aud: 'app', sub: 'alice', iat, exp: iat + 300, ...claims }
      return new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'one', ...header }).sign(privateKey)
    },
    close: () => new Promise(resolve => void server.close(() => resolve()).closeAllConnections()),
  }
}
