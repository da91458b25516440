import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportPKCS8, generateKeyPair, type JWTPayload, jwtVerify } from 'jose'

/** Google's token endpoint on loopback: returns a new token for each assertion that its service account signed. */
export interface ScriptedTokenEndpoint {
  readonly url: string
  /** The JSON key of its service account, whose `token_uri` is this endpoint. */
  readonly serviceAccount: string
  /** The claims of the accepted assertions, oldest first. */
  readonly claims: readonly JWTPayload[]
  /** Lifetime of the next tokens in seconds. */
  lifetimeS: number
  /** The answer to the next requests instead of a token. */
  rejection: { readonly status: number; readonly body: unknown } | undefined
  close(): Promise<void>
}

/** Tokens are `token-1`, `token-2`… in the order of the exchanges. */
export async function openScriptedTokenEndpoint(): Promise<ScriptedTokenEndpoint> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  const claims: JWTPayload[] = []
  const state = { lifetimeS: 3600, rejection: undefined as ScriptedTokenEndpoint['rejection'] }
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const form = new URLSearchParams(Buffer.concat(chunks).toString())
    const answer = (status: number, body: unknown): void => {
      res.writeHead(status, { 'content-type': 'application/json' })
      res.end(JSON.stringify(body))
    }
    if (state.rejection !== undefined) return answer(state.rejection.status, state.rejection.body)
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') {
      return answer(400, { error: 'unsupported_grant_type' })
    }
    try {
      // The test has its own clock and checks the times in the assertion itself.
      const { payload } = await jwtVerify(form.get('assertion') ?? '', publicKey, {
        currentDate: new Date(0),
      })
      claims.push(payload)
      answer(200, {
        access_token: `token-${claims.length}`,
        expires_in: state.lifetimeS,
        token_type: 'Bearer',
      })
    } catch {
      answer(400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' })
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`
  const serviceAccount = JSON.stringify(
    {
      type: 'service_account',
      project_id: 'a-project',
      private_key_id: 'key-1',
      private_key: await exportPKCS8(privateKey),
      client_email: 'gateway@a-project.iam.gserviceaccount.com',
      token_uri: url,
    },
    null,
    2,
  )
  return Object.assign(state, {
    url,
    serviceAccount,
    claims,
    close: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  })
}
