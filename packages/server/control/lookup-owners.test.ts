import { afterAll, beforeAll, expect, test } from 'vitest'
import { openConfiguredEgress } from '../http/egress/open-egress.ts'
import { type Hosts, LookupError } from '../http/names/host-resolver.ts'
import { toTenant } from '../http/names/lookup-slots.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../testing/harness/control-plane.ts'

/** Whose share of the lookups is used by calls that name a host. */

const lookups: string[] = []
const hosts: Hosts = {
  async resolve(hostname, owner) {
    lookups.push(`${hostname} ${toTenant(owner)}`)
    throw new LookupError('unknown')
  },
}

let plane: ControlPlane
let tenant: Tenant
beforeAll(async () => {
  plane = await openControlPlane({ egress: { ...openConfiguredEgress({ allowPrivate: false }), hosts } })
  tenant = await plane.insertTenant('acme')
})
afterAll(() => plane.close())

test('all webhooks and credentials of an organization share its lookups', async () => {
  const key = tenant.keys.admin
  const { organization, project, development, production } = tenant
  const call = async (method: string, path: string, body: object): Promise<string> => {
    const answer = await plane.call<{ id: string }>(method, path, { key, body })
    expect(answer.status).toBeLessThan(300)
    return answer.json.id
  }
  const webhook = (n: number) => ({ url: `https://w${n}.test/`, events: ['budget.alert'] })
  const first = await call('POST', `/v1/orgs/${organization.id}/webhooks`, webhook(1))
  await call('POST', `/v1/orgs/${organization.id}/webhooks`, webhook(2))
  await call('PATCH', `/v1/webhooks/${first}`, webhook(3))
  const credential = (n: number) => ({
    provider: 'custom',
    name: 'c',
    api_key: 'k',
    base_url: `https://c${n}.test`,
  })
  const made = await call('POST', `/v1/environments/${development.id}/provider-credentials`, credential(1))
  await call('POST', `/v1/environments/${production.id}/provider-credentials`, credential(2))
  await call('POST', `/v1/projects/${project.id}/provider-credentials`, {
    environment_id: development.id,
    ...credential(3),
  })
  const { provider: _, ...change } = credential(4)
  await call('PATCH', `/v1/provider-credentials/${made}`, change)
  const names = lookups.map(each => each.split(' ')[0])
  for (const name of ['w1', 'w2', 'w3', 'c1', 'c2', 'c3', 'c4']) expect(names).toContain(`${name}.test`)
  expect(new Set(lookups.map(each => each.split(' ')[1]))).toEqual(new Set([organization.id]))
})
