import { allModels } from '@rideau/llm/providers/catalog'
import { PROVIDERS } from '@rideau/llm/providers/index'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type ControlPlane,
  type List,
  openControlPlane,
  type Tenant,
} from '../../testing/harness/control-plane.ts'

let plane: ControlPlane
let key: string
let tenant: Tenant
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
  key = tenant.keys.viewer
})
afterAll(() => plane.close())

interface ListedModel {
  readonly id: string
  readonly is_callable?: boolean
}

async function listAll(path: string, filter = ''): Promise<ListedModel[]> {
  const seen: ListedModel[] = []
  let cursor: string | null = null
  do {
    const suffix: string = cursor === null ? '' : `&cursor=${cursor}`
    const { status, json } = await plane.call<List<ListedModel>>(
      'GET',
      `${path}?limit=100&${filter}${suffix}`,
      {
        key,
      },
    )
    expect(status).toBe(200)
    seen.push(...json.data)
    cursor = json.next_cursor
  } while (cursor !== null)
  return seen
}

test('GET /v1/catalog/models lists every model once, by id, over pages', async () => {
  const seen = await listAll('/v1/catalog/models')
  const expected = allModels().map(({ provider, model }) => `${provider}/${model.id}`)
  expect(seen.map(({ id }) => id)).toEqual(expected.sort())
  expect(seen.find(({ id }) => id === 'sandbox/echo')).toMatchObject({ provider: 'sandbox' })
})

test('the catalogue of an environment begins with what can be called in it, over pages', async () => {
  const all = await listAll('/v1/catalog/models')
  const path = `/v1/environments/${tenant.development.id}/catalog`
  const before = (await listAll(path)).filter(({ is_callable }) => is_callable === true)
  expect(before.map(({ id }) => id)).toEqual(all.map(({ id }) => id).filter(id => id.startsWith('sandbox/')))
  for (const apiKey of ['sk-first', 'sk-second']) await plane.insertCredential(tenant, apiKey)
  const isCallable = ({ id }: { id: string }) => /^(openai|sandbox)\//.test(id)
  expect(await listAll(path)).toEqual([
    ...all.filter(isCallable).map(model => ({ ...model, is_callable: true })),
    ...all.filter(each => !isCallable(each)).map(model => ({ ...model, is_callable: false })),
  ])
  const ofProduction = await listAll(`/v1/environments/${tenant.production.id}/catalog`, 'provider=openai')
  expect(ofProduction.every(({ is_callable }) => is_callable === false)).toBe(true)
})

test('GET /v1/catalog/models takes a provider and a text, over pages', async () => {
  const all = allModels().map(({ provider, model }) => ({ id: `${provider}/${model.id}`, provider, model }))
  const idsOf = (records: { id: string }[]) => records.map(({ id }) => id)
  const ofGroq = all.filter(({ provider }) => provider === 'groq')
  expect(idsOf(await listAll('/v1/catalog/models', 'provider=groq'))).toEqual(idsOf(ofGroq).sort())
  const mini = all.filter(({ id, model }) => /mini/i.test(id) || /mini/i.test(model.display_name))
  expect(mini.length).toBeGreaterThan(5)
  expect(idsOf(await listAll('/v1/catalog/models', 'q=MINI'))).toEqual(idsOf(mini).sort())
  const both = mini.filter(({ provider }) => provider === 'openai')
  expect(idsOf(await listAll('/v1/catalog/models', 'q=mini&provider=openai'))).toEqual(idsOf(both).sort())
  expect(await listAll('/v1/catalog/models', 'provider=nobody')).toEqual([])
})

test('GET /v1/catalog/models keeps a cursor to its filter', async () => {
  const { json } = await plane.call<List<unknown>>('GET', '/v1/catalog/models?limit=1&q=mini', { key })
  const path = `/v1/catalog/models?cursor=${json.next_cursor}`
  expect((await plane.call('GET', `${path}&q=mini`, { key })).status).toBe(200)
  expect((await plane.call('GET', path, { key })).outcome).toBe('400 invalid_request cursor')
  expect((await plane.call('GET', `${path}&q=nano`, { key })).outcome).toBe('400 invalid_request cursor')
})

test.each([
  ['provider=', 'provider'],
  ['q=', 'q'],
  ['q=%00', 'q'],
  [`q=${'x'.repeat(201)}`, 'q'],
  ['text=mini', 'text'],
])('GET /v1/catalog/models?%.12s answers 400 request_validation_failed', async (query, param) => {
  const { outcome } = await plane.call('GET', `/v1/catalog/models?${query}`, { key })
  expect(outcome).toBe(`400 request_validation_failed ${param}`)
})

test('GET /v1/catalog/models shows what images cost', async () => {
  const [image] = (await listAll('/v1/catalog/models', 'provider=sandbox&q=image')) as {
    image_pricing?: object
    pricing?: object
  }[]
  expect(image).toMatchObject({ pricing: null, image_pricing: { usd_per_image: 0.01 } })
})

test('GET /v1/catalog/models shows what audio and reranking cost', async () => {
  const [whisper] = await listAll('/v1/catalog/models', 'provider=groq&q=whisper-large-v3')
  expect(whisper).toMatchObject({ audio_pricing: { usd_per_hour: 0.111, min_seconds: 10 } })
  const [rerank] = await listAll('/v1/catalog/models', 'provider=cohere&capability=rerank')
  expect(rerank).toMatchObject({ rerank_pricing: { input_usd_per_mtok: null } })
})

test('GET /v1/catalog/providers lists every provider with the fields of its credential', async () => {
  const seen = await listAll('/v1/catalog/providers')
  expect(seen.map(({ id }) => id)).toEqual(PROVIDERS.map(({ id }) => id).sort())
  expect(seen.find(({ id }) => id === 'custom')).toMatchObject({
    base_url: null,
    models: 'any',
    credential_fields: [
      { name: 'api_key', required: false },
      { name: 'base_url', required: true },
    ],
  })
  expect(seen.find(({ id }) => id === 'sandbox')).toMatchObject({ sandbox: true, credential_fields: [] })
})

test('rejects a cursor of the other list with 400 invalid_request', async () => {
  const { json } = await plane.call<List<unknown>>('GET', '/v1/catalog/providers?limit=1', { key })
  const path = `/v1/catalog/models?cursor=${json.next_cursor}`
  expect((await plane.call('GET', path, { key })).outcome).toBe('400 invalid_request cursor')
})
