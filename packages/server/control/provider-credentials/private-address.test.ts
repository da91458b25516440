import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openConfiguredEgress } from '../../http/egress/open-egress.ts'
import { openScriptedDns, type ScriptedDns } from '../../testing/fakes/scripted-dns.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../../testing/harness/control-plane.ts'

const SETTING = 'RIDEAU_ALLOW_PRIVATE_UPSTREAMS'

let dns: ScriptedDns
let plane: ControlPlane
let tenant: Tenant

beforeAll(async () => {
  dns = await openScriptedDns()
  dns.script('private.test', { a: ['10.1.2.3'] })
  dns.script('mixed.test', { a: ['93.184.216.34', '127.0.0.1'] })
  dns.script('metadata.test', { a: ['169.254.169.254'] })
  dns.script('public.test', { a: ['93.184.216.34'] })
  dns.script('broken.test', 'servfail')
  const egress = openConfiguredEgress({ allowPrivate: false, dnsServers: [dns.server] })
  plane = await openControlPlane({ egress })
  tenant = await plane.insertTenant('acme')
})
afterAll(async () => {
  await plane.close()
  await dns.close()
})

const REFUSED = [
  'https://127.0.0.1/v1',
  'https://10.1.2.3/v1',
  'https://2130706433/v1',
  'https://[::1]/v1',
  'https://[::ffff:192.168.0.1]/v1',
  'http://public.test/v1',
  'https://public.test:8443/v1',
  'https://localhost/v1',
  'https://private.test/v1',
  'https://mixed.test/v1',
]
const ACCEPTED = ['https://public.test/v1', 'https://unknown.test/v1', 'https://broken.test/v1']

interface Failure {
  readonly error: { readonly message: string }
}

describe('a credential where private addresses are not allowed', () => {
  const fields = (base_url: string) => ({ provider: 'custom', name: 'own', api_key: 'k', base_url })
  const path = () => `/v1/environments/${tenant.development.id}/provider-credentials`
  const create = (base_url: string) =>
    plane.call<Failure & { id: string }>('POST', path(), {
      key: tenant.keys.developer,
      body: fields(base_url),
    })

  test.each(REFUSED)('is refused with the base_url %s, by the name of the setting', async base_url => {
    const { outcome, json } = await create(base_url)
    expect(outcome).toBe('400 invalid_request base_url')
    expect(json.error.message).toContain(SETTING)
  })

  test.each(['https://169.254.169.254/v1', 'https://metadata.test/v1'])(
    'is refused with the base_url %s, which no setting allows',
    async base_url => {
      const { outcome, json } = await create(base_url)
      expect(outcome).toBe('400 invalid_request base_url')
      expect(json.error.message).not.toContain(SETTING)
    },
  )

  test.each(ACCEPTED)('is stored with the base_url %s', async base_url => {
    expect((await create(base_url)).outcome).toBe('201')
  })

  test('is refused in a project, and by a change of its address', async () => {
    const inProject = await plane.call('POST', `/v1/projects/${tenant.project.id}/provider-credentials`, {
      key: tenant.keys.developer,
      body: { ...fields('https://private.test/v1'), environment_id: tenant.development.id },
    })
    expect(inProject.outcome).toBe('400 invalid_request base_url')
    const made = await create('https://public.test/v1')
    const one = `/v1/provider-credentials/${made.json.id}`
    const change = (base_url: string) =>
      plane.call<Failure>('PATCH', one, { key: tenant.keys.developer, body: { base_url, api_key: 'k' } })
    expect((await change('https://private.test/v1')).outcome).toBe('400 invalid_request base_url')
    expect((await change('https://unknown.test/v1')).outcome).toBe('200')
  })

  test("is refused where its provider's own address is private", async () => {
    const body = { provider: 'ollama', name: 'local' }
    const { outcome, json } = await plane.call<Failure>('POST', path(), { key: tenant.keys.developer, body })
    expect(outcome).toBe('400 invalid_request base_url')
    expect(json.error.message).toContain(SETTING)
  })

  test('is stored where the public address of its provider is unknown', async () => {
    const body = { provider: 'openai', name: 'own', api_key: 'sk-x' }
    expect((await plane.call('POST', path(), { key: tenant.keys.developer, body })).outcome).toBe('201')
  })
})

describe('a webhook where private addresses are not allowed', () => {
  const create = (url: string) =>
    plane.call<Failure & { id: string }>('POST', `/v1/orgs/${tenant.organization.id}/webhooks`, {
      key: tenant.keys.admin,
      body: { url, events: ['budget.alert'] },
    })

  test.each(REFUSED)('is refused with the url %s, by the name of the setting', async url => {
    const { outcome, json } = await create(url)
    expect(outcome).toBe('400 invalid_request url')
    expect(json.error.message).toContain(SETTING)
  })

  test.each(ACCEPTED)('is stored with the url %s', async url => {
    expect((await create(url)).outcome).toBe('201')
  })

  test('is refused by a change of its address', async () => {
    const { json } = await create('https://public.test')
    const change = { key: tenant.keys.admin, body: { url: 'https://private.test' } }
    const { outcome } = await plane.call('PATCH', `/v1/webhooks/${json.id}`, change)
    expect(outcome).toBe('400 invalid_request url')
  })
})

describe('an identity issuer where private addresses are not allowed', () => {
  test.each(['https://127.0.0.1', 'https://private.test', 'https://mixed.test'])(
    'is refused: %s',
    async issuer => {
      const { outcome } = await plane.call('PUT', `/v1/projects/${tenant.project.id}/federated-auth`, {
        key: tenant.keys.admin,
        body: { issuer, audiences: ['app'] },
      })
      expect(outcome).toBe('400 federated_config_invalid issuer')
    },
  )
})
