import { afterAll, beforeAll, expect, test } from 'vitest'
import { json, openScriptedUpstream, type ScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../../testing/harness/control-plane.ts'

/** The supervisor of the gateway workers asks the hosts that tenants name: their answers must hold up nobody. */

let plane: ControlPlane
let tenant: Tenant
let upstream: ScriptedUpstream
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
  upstream = await openScriptedUpstream({ scriptsLists: true })
})
afterAll(async () => {
  await upstream.close()
  await plane.close()
})

interface Checked {
  readonly id: string
  readonly validation_error: string | null
}
const create = async (of: Tenant) =>
  await plane.call<Checked>('POST', `/v1/environments/${of.development.id}/provider-credentials`, {
    key: of.keys.developer,
    body: { provider: 'openai', name: 'n', api_key: 'sk-1', base_url: upstream.baseUrl },
  })
const validate = (of: Tenant, id: string) =>
  plane.call<Checked>('POST', `/v1/provider-credentials/${id}/validate`, { key: of.keys.developer })

test('a list of models with hundreds of thousands of values is none', async () => {
  const { json: made } = await (upstream.script(json(200, { data: [] })), create(tenant))
  expect(made.validation_error).toBeNull()
  upstream.script(res => {
    res.writeHead(200, { 'content-type': 'application/json' })
    res.end(`[${'{},'.repeat(340_000)}{}]`)
  })
  const { json: checked } = await validate(tenant, made.id)
  expect(checked.validation_error).toBe('The address did not answer with a list of models.')
})

test('one organization waits for 32 answers at once, which keeps no other from its own', async () => {
  const other = await plane.insertTenant('other')
  upstream.script(json(200, { data: [] }), json(200, { data: [] }))
  const ids = [(await create(tenant)).json.id, (await create(other)).json.id] as const
  let release: () => void = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  const held = async (
    res: Parameters<ReturnType<typeof json>>[0],
    seen: Parameters<ReturnType<typeof json>>[1],
  ) => {
    await released
    await json(200, { data: [] })(res, seen)
  }
  upstream.script(...Array.from({ length: 41 }, () => held))
  const before = upstream.requests.length
  const all = Array.from({ length: 40 }, () => validate(tenant, ids[0]))
  await expect.poll(() => upstream.requests.length - before, { timeout: 30_000 }).toBe(32)
  all.push(validate(other, ids[1]))
  await expect.poll(() => upstream.requests.length - before, { timeout: 30_000 }).toBe(33)
  release()
  expect(new Set((await Promise.all(all)).map(({ status }) => status))).toEqual(new Set([200]))
})
