import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

export const OIDC_CLIENT = { clientId: 'rideau', clientSecret: 'the-secret-of-the-client' }

/** An OpenID Connect issuer on loopback that signs in any user with the claims of the test. */
export interface ScriptedIssuer {
  readonly url: string
  /** Claims of the next ID tokens. They override the correct ones. */
  claims: Record<string, unknown>
  /** Acts as the browser at the issuer: checks the authorization request and returns the URL of the redirect. */
  signIn(authorizationUrl: string): string
  /** Returns the number of requests to exchange a code. */
  readonly exchanges: () => number
  close(): Promise<void>
}

export async function openScriptedIssuer(): Promise<ScriptedIssuer> {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256', use: 'sig' }
  const codes = new Map<string, { challenge: string; nonce: string }>()
  let exchanges = 0
  let url = ''
  const issuer: { claims: Record<string, unknown> } = { claims: {} }

  const token = async (form: URLSearchParams): Promise<object | undefined> => {
    exchanges++
    const code = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (code === undefined || code.challenge !== challenge) return undefined
    const idToken = await new SignJWT({ nonce: code.nonce, ...issuer.claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'k' })
      .setIssuer(url)
      .setAudience((issuer.claims.aud as string | undefined) ?? OIDC_CLIENT.clientId)
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(privateKey)
    return { access_token: 'a', token_type: 'Bearer', expires_in: 300, id_token: idToken }
  }

  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', chunk => chunks.push(chunk))
    req.on('end', async () => {
      const form = new URLSearchParams(Buffer.concat(chunks).toString())
      const answers: Record<string, () => object | undefined | Promise<object | undefined>> = {
        '/.well-known/openid-configuration': () => ({
          issuer: url,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${url}/token`,
          jwks_uri: `${url}/jwks`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
        }),
        '/jwks': () => ({ keys: [jwk] }),
        '/token': () => token(form),
      }
      const body = await answers[req.url ?? '']?.()
      res.writeHead(body === undefined ? 400 : 200, { 'content-type': 'application/json' })
      res.end(JSON.stringify(body ?? { error: 'invalid_grant' }))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return Object.assign(issuer, {
    url,
    exchanges: () => exchanges,
    signIn(authorizationUrl: string) {
      const { searchParams: asked } = new URL(authorizationUrl)
      if (asked.get('code_challenge_method') !== 'S256' || asked.get('client_id') !== OIDC_CLIENT.clientId) {
        throw new Error(`not a request for a code with PKCE: ${authorizationUrl}`)
      }
      const code = `code-${codes.size}-${exchanges}`
      codes.set(code, { challenge: asked.get('code_challenge') ?? '', nonce: asked.get('nonce') ?? '' })
      const back = new URL(asked.get('redirect_uri') ?? '')
      back.search = new URLSearchParams({ code, state: asked.get('state') ?? '' }).toString()
      return back.href
    },
    async close() {
      await new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
    },
  })
}
