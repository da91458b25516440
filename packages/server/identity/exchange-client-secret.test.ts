import type { Provider } from '@rideau/llm/provider/provider'
import { findProvider } from '@rideau/llm/providers/index'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openConfiguredEgress } from '../http/egress/open-egress.ts'
import { json, openScriptedUpstream, type ScriptedUpstream } from '../testing/fakes/scripted-upstream.ts'
import { exchangeClientSecret } from './exchange-client-secret.ts'
import { findTokenExchange } from './find-token-exchange.ts'

const provider = findProvider('azure') as Provider
const options = { tenant_id: '9f0c1c2e-1111-2222-3333-444455556666', client_id: 'app' }
const call = { policy: openConfiguredEgress({ allowPrivate: true }), now: 1_000 }
const TOKEN = json(200, { access_token: 'tok', expires_in: 3599 })
let directory: ScriptedUpstream
let authority: string

beforeAll(async () => {
  directory = await openScriptedUpstream()
  authority = directory.origin
})
afterAll(() => directory.close())

describe('the secret of an Entra application', () => {
  test('is exchanged at its directory by the client credentials grant', async () => {
    directory.script(TOKEN)
    const answer = await exchangeClientSecret({ provider, apiKey: 's&cret', options }, call, authority)
    expect(answer).toEqual({ ok: true, value: { token: 'tok', expiresAt: 1_000 + 3_599_000 } })
    const request = directory.requests.at(-1)
    expect(request?.path).toBe(`/${options.tenant_id}/oauth2/v2.0/token`)
    expect(Object.fromEntries(new URLSearchParams(request?.text))).toEqual({
      grant_type: 'client_credentials',
      client_id: 'app',
      client_secret: 's&cret',
      scope: 'https://cognitiveservices.azure.com/.default',
    })
  })

  test('gives an auth error if the directory rejects it', async () => {
    directory.script(json(401, { error: 'invalid_client' }))
    const answer = await exchangeClientSecret({ provider, apiKey: 's', options }, call, authority)
    expect(answer).toMatchObject({ ok: false, error: { kind: 'auth', status: 401 } })
  })

  test.each(['../x', 'a/b', 'a?b', '', 'a#b', 'x@evil.example:1/'])(
    'is sent nowhere if tenant_id is %j',
    async tenant_id => {
      directory.script(TOKEN)
      const before = directory.requests.length
      const answer = await exchangeClientSecret(
        { provider, apiKey: 's', options: { ...options, tenant_id } },
        call,
        authority,
      )
      expect(answer).toMatchObject({ ok: false, error: { kind: 'auth' } })
      expect(directory.requests.length).toBe(before)
    },
  )

  test('needs tenant_id and client_id together; without both the key is sent as it is', async () => {
    const half = { provider, apiKey: 'k', options: { tenant_id: options.tenant_id } }
    expect(await findTokenExchange(half)?.(half, call)).toMatchObject({ ok: false, error: { kind: 'auth' } })
    expect(findTokenExchange({ provider, apiKey: 'k', options: { resource: 'r' } })).toBeUndefined()
  })
})
