import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type ControlPlane,
  type List,
  openControlPlane,
  type Tenant,
} from '../../testing/harness/control-plane.ts'
import type { z } from '../operation/zod.ts'
import type { WrittenAliasResource } from './alias-warnings.ts'

type AliasRecord = z.output<typeof WrittenAliasResource>

let plane: ControlPlane
let tenant: Tenant
let key: string
let path: string
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
  key = tenant.keys.developer
  path = `/v1/environments/${tenant.development.id}/model-aliases`
})
afterAll(() => plane.close())

let made = 0
const valid = () => ({ alias: `alias-${made++}`, strategy: 'priority', targets: [{ model: 'sandbox/echo' }] })
const create = (fields: object = {}) =>
  plane.call<AliasRecord>('POST', path, { key, body: { ...valid(), ...fields } })
const change = (id: string, body: unknown) =>
  plane.call<AliasRecord>('PATCH', `/v1/model-aliases/${id}`, { key, body })

describe('create, read, change, remove', () => {
  test('warns of targets that no request could use, and of none if all can be used', async () => {
    const credentialId = await plane.insertCredential(tenant, 'sk-openai')
    const targets = [
      { model: 'gpt-4o' },
      { model: 'no-such-model' },
      { model: 'groq/llama-3.3-70b-versatile' },
    ]
    const { status, json } = await create({ targets })
    expect([status, json.warnings.map(({ model, code }) => `${model} ${code}`)]).toEqual([
      201,
      ['no-such-model model_not_found', 'groq/llama-3.3-70b-versatile provider_credential_missing'],
    ])
    expect(json.warnings[0]?.message).toContain('no-such-model')
    const fixed = await change(json.id, { targets: [{ model: 'gpt-4o' }] })
    expect([fixed.status, fixed.json.warnings]).toEqual([200, []])
    expect((await change(json.id, { targets: [{ model: 'x' }] })).json.warnings).toHaveLength(1)
    await plane.call('DELETE', `/v1/provider-credentials/${credentialId}`, { key })
  })

  test('answers 201 with the record, then 200, 204 and 404', async () => {
    const targets = [
      { model: 'sandbox/echo', weight: 3, timeout_ms: 1000, max_retries: 0 },
      { model: 'gpt-4o', weight: null, timeout_ms: 3_600_000 },
    ]
    const { status, json } = await create({ alias: 'A.b_c:d-9', strategy: 'weighted', targets })
    const now = new Date(plane.clock.now()).toISOString()
    expect([status, json]).toEqual([
      201,
      {
        id: expect.any(String),
        project_id: tenant.project.id,
        environment_id: tenant.development.id,
        alias: 'A.b_c:d-9',
        strategy: 'weighted',
        targets: [
          { model: 'sandbox/echo', weight: 3, timeout_ms: 1000, max_retries: 0 },
          { model: 'gpt-4o', weight: null, timeout_ms: 3_600_000, max_retries: null },
        ],
        created_at: now,
        updated_at: now,
        warnings: [{ model: 'gpt-4o', code: 'provider_credential_missing', message: expect.any(String) }],
      },
    ])
    const one = `/v1/model-aliases/${json.id}`
    const { warnings: _, ...record } = json
    expect((await plane.call('GET', one, { key })).json).toEqual(record)
    plane.clock.advance(1000)
    const changed = await change(json.id, { strategy: 'lowest_cost' })
    const updated_at = new Date(plane.clock.now()).toISOString()
    expect(changed.json).toEqual({ ...json, strategy: 'lowest_cost', updated_at })
    expect((await change(json.id, { targets: [{ model: 'x' }] })).json.targets).toHaveLength(1)
    expect((await plane.call('DELETE', one, { key })).status).toBe(204)
    expect((await plane.call('GET', one, { key })).outcome).toBe('404 resource_not_found')
  })

  test('rejects a second alias of the same name in an environment with 409 resource_conflict', async () => {
    const { json } = await create()
    expect((await create({ alias: json.alias })).outcome).toBe('409 resource_conflict alias')
    const elsewhere = `/v1/environments/${tenant.production.id}/model-aliases`
    const body = { ...valid(), alias: json.alias }
    expect((await plane.call('POST', elsewhere, { key, body })).status).toBe(201)
  })

  test('lists newest first, by cursor', async () => {
    const other = await plane.insertTenant('pages')
    const below = `/v1/environments/${other.development.id}/model-aliases`
    const credential = { key: other.keys.developer }
    for (const alias of ['a', 'b', 'c']) {
      plane.clock.advance(1)
      await plane.call('POST', below, { ...credential, body: { ...valid(), alias } })
    }
    const first = await plane.call<List<AliasRecord>>('GET', `${below}?limit=2`, credential)
    expect(first.json.data.map(({ alias }) => alias)).toEqual(['c', 'b'])
    const next = `${below}?limit=2&cursor=${first.json.next_cursor}`
    const second = await plane.call<List<AliasRecord>>('GET', next, credential)
    expect([second.json.data.map(({ alias }) => alias), second.json.has_more]).toEqual([['a'], false])
  })

  test.each([
    [{ alias: 'a/b' }, 'alias'],
    [{ alias: '' }, 'alias'],
    [{ alias: 'x'.repeat(129) }, 'alias'],
    [{ strategy: 'random' }, 'strategy'],
    [{ targets: [] }, 'targets'],
    [{ targets: Array.from({ length: 21 }, () => ({ model: 'm' })) }, 'targets'],
    [{ targets: [{}] }, 'targets[0].model'],
    [{ targets: [{ model: 'm', weight: -1 }] }, 'targets[0].weight'],
    [{ targets: [{ model: 'm', timeout_ms: 999 }] }, 'targets[0].timeout_ms'],
    [{ targets: [{ model: 'm', timeout_ms: 3_600_001 }] }, 'targets[0].timeout_ms'],
    [{ targets: [{ model: 'm', max_retries: 1.5 }] }, 'targets[0].max_retries'],
    [{ targets: [{ model: 'm', price: 1 }] }, 'targets[0].price'],
    [{ name: 'x' }, 'name'],
  ])('400 invalid_request: %j', async (fields, param) => {
    expect((await create(fields)).outcome).toBe(`400 invalid_request ${param}`)
  })

  test('400 invalid_request for a change of the name', async () => {
    const { json } = await create()
    expect((await change(json.id, { alias: 'other' })).outcome).toBe('400 invalid_request alias')
  })
})

describe('dry run', () => {
  /** Supports embeddings but not chat. */
  const EMBEDDER = 'sandbox/dry-run-embedder'
  beforeAll(async () => {
    const body = { model: EMBEDDER, capabilities: ['embeddings'] }
    const below = `/v1/environments/${tenant.development.id}/custom-models`
    await plane.call('POST', below, { key, body })
  })
  const dryRun = (id: string, body?: unknown, by = key) =>
    plane.call<any>('POST', `/v1/model-aliases/${id}/dry-run`, {
      key: by,
      ...(body === undefined ? {} : { body }),
    })

  test('200: returns the target that would serve, and the fault of each unusable target', async () => {
    const targets = ['openai/gpt-4o', 'nobody-knows', EMBEDDER, 'sandbox/json', 'sandbox/echo']
    const { json: alias } = await create({ targets: targets.map(model => ({ model })) })
    const { status, json } = await dryRun(alias.id)
    expect(status).toBe(200)
    expect(json).toMatchObject({ alias: alias.alias, strategy: 'priority', serves: 'sandbox/json' })
    const seen = json.targets.map((target: any) => [target.resolved, target.usable, target.reason])
    expect(seen).toEqual([
      [null, false, 'provider_credential_missing'],
      [null, false, 'model_not_found'],
      [EMBEDDER, false, 'model_missing_capability'],
      ['sandbox/json', true, null],
      ['sandbox/echo', true, null],
    ])
  })

  test('checks targets for the capabilities of the request', async () => {
    const targets = [{ model: 'sandbox/echo' }, { model: EMBEDDER }]
    const { json: alias } = await create({ targets })
    expect((await dryRun(alias.id, {})).json.serves).toBe('sandbox/echo')
    expect((await dryRun(alias.id, { capabilities: ['embeddings'] })).json.serves).toBe(EMBEDDER)
    expect((await dryRun(alias.id, { capabilities: ['images', 'tools'] })).json.serves).toBeNull()
    expect((await dryRun(alias.id, { capabilities: ['flight'] })).outcome).toBe(
      '400 invalid_request capabilities[0]',
    )
  })

  test("applies the environment's list of allowed models", async () => {
    const other = await plane.insertTenant('listed')
    const credential = { key: other.keys.admin }
    const environment = `/v1/environments/${other.development.id}`
    const targets = [{ model: 'sandbox/echo' }, { model: 'sandbox/json' }]
    const body = { ...valid(), targets }
    const alias = await plane.call<AliasRecord>('POST', `${environment}/model-aliases`, {
      ...credential,
      body,
    })
    await plane.call('PATCH', environment, { ...credential, body: { allowed_models: ['sandbox/json'] } })
    const { json } = await dryRun(alias.json.id, undefined, other.keys.viewer)
    expect([json.serves, json.targets[0].reason]).toEqual(['sandbox/json', 'model_not_allowed'])
  })

  test('returns the share of each target for the strategy weighted', async () => {
    const targets = [
      { model: 'sandbox/echo', weight: 1 },
      { model: 'openai/gpt-4o', weight: 6 },
      { model: 'sandbox/json', weight: 3 },
    ]
    const { json: alias } = await create({ strategy: 'weighted', targets })
    const { json } = await dryRun(alias.id)
    expect(json.serves).toBe('sandbox/json')
    expect(json.targets.map((target: any) => target.share)).toEqual([0.25, null, 0.75])
  })
})

test('a viewer and another organization cannot change an alias', async () => {
  const { json } = await create()
  const one = `/v1/model-aliases/${json.id}`
  const other = await plane.insertTenant('other')
  for (const [method, at, body] of [
    ['GET', one, undefined],
    ['PATCH', one, {}],
    ['DELETE', one, undefined],
    ['POST', `${one}/dry-run`, {}],
    ['GET', path, undefined],
    ['POST', path, valid()],
  ] as const) {
    const sent = body === undefined ? {} : { body }
    expect((await plane.call(method, at, { key: other.keys.admin, ...sent })).outcome).toBe(
      '404 resource_not_found',
    )
    const reads = method === 'GET' || at.endsWith('/dry-run')
    expect((await plane.call(method, at, { key: tenant.keys.viewer, ...sent })).outcome).toBe(
      reads ? '200' : '403 insufficient_role',
    )
  }
})

test('targets that are not stored are tried as those of an alias are', async () => {
  const ask = (fields: object, by = tenant.keys.viewer) =>
    plane.call<any>('POST', `${path}/dry-run`, { key: by, body: { ...valid(), ...fields } })
  const targets = [
    { model: 'openai/gpt-4o-mini', weight: 3 },
    { model: 'sandbox/echo', weight: 1 },
  ]
  const { outcome, json } = await ask({ alias: 'never-stored', strategy: 'weighted', targets })
  expect(outcome).toBe('200')
  expect(json).toMatchObject({ alias: 'never-stored', serves: 'sandbox/echo' })
  expect(json.targets[0]).toMatchObject({ usable: false, reason: 'provider_credential_missing' })
  const { json: list } = await plane.call<List<AliasRecord>>('GET', `${path}?limit=100`, { key })
  expect(list.data.map(({ alias }) => alias)).not.toContain('never-stored')
  expect((await ask({ capabilities: ['embeddings'] })).json.serves).toBeNull()
  expect((await ask({ targets: [] })).outcome).toBe('400 invalid_request targets')
  const stranger = await plane.insertTenant('dry-run-stranger')
  expect((await ask({}, stranger.keys.viewer)).status).toBe(404)
})
