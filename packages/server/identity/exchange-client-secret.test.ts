import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Provider } from '@rideau/llm/provider/provider'
import { findProvider } from '@rideau/llm/providers/index'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exchangeClientSecret } from './exchange-client-secret.ts'
import { findTokenExchange } from './find-token-exchange.ts'

const provider = findProvider('azure') as Provider
const options = { tenant_id: '9f0c1c2e-1111-2222-3333-444455556666', client_id: 'app' }
const call = { policy: { allowPrivate: true }, now: 1_000 }
const seen: { path: string; form: URLSearchParams }[] = []
let status = 200
let server: http.Server
let authority: string

beforeAll(async () => {
  server = http.createServer((req, res) => {
    let text = ''
    req.on('data', part => {
      text += String(part)
    })
    req.on('end', () => {
      seen.push({ path: req.url ?? '', form: new URLSearchParams(text) })
      res.writeHead(status, { 'content-type': 'application/json' })
      res.end(
        JSON.stringify(
          status === 200 ? { access_token: 'tok', expires_in: 3599 } : { error: 'invalid_client' },
        ),
      )
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  authority = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => new Promise(resolve => server.close(resolve)))

describe('the secret of an Entra application', () => {
  test('is exchanged at its directory by the client credentials grant', async () => {
    const answer = await exchangeClientSecret({ provider, apiKey: 's&cret', options }, call, authority)
    expect(answer).toEqual({ ok: true, value: { token: 'tok', expiresAt: 1_000 + 3_599_000 } })
    expect(seen.at(-1)?.path).toBe(`/${options.tenant_id}/oauth2/v2.0/token`)
    expect(Object.fromEntries(seen.at(-1)?.form ?? [])).toEqual({
      grant_type: 'client_credentials',
      client_id: 'app',
      client_secret: 's&cret',
      scope: 'https://cognitiveservices.azure.com/.default',
    })
  })

  test('that the directory rejects gives an auth error', async () => {
    status = 401
    const answer = await exchangeClientSecret({ provider, apiKey: 's', options }, call, authority)
    status = 200
    expect(answer).toMatchObject({ ok: false, error: { kind: 'auth', status: 401 } })
  })

  test.each(['../x', 'a/b', 'a?b', '', 'a#b', 'x@evil.example:1/'])(
    'is sent nowhere if tenant_id is %j',
    async tenant_id => {
      const before = seen.length
      const answer = await exchangeClientSecret(
        { provider, apiKey: 's', options: { ...options, tenant_id } },
        call,
        authority,
      )
      expect(answer).toMatchObject({ ok: false, error: { kind: 'auth' } })
      expect(seen.length).toBe(before)
    },
  )

  test('needs tenant_id and client_id together; without both the key is sent as it is', async () => {
    const half = { provider, apiKey: 'k', options: { tenant_id: options.tenant_id } }
    expect(await findTokenExchange(half)?.(half, call)).toMatchObject({ ok: false, error: { kind: 'auth' } })
    expect(findTokenExchange({ provider, apiKey: 'k', options: { resource: 'r' } })).toBeUndefined()
  })
})
