import { allModels } from '@rideau/llm/providers/catalog'
import { PROVIDERS } from '@rideau/llm/providers/index'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ControlPlane, type List, openControlPlane } from '../../testing/harness/control-plane.ts'

let plane: ControlPlane
let key: string
beforeAll(async () => {
  plane = await openControlPlane()
  key = (await plane.insertTenant('acme')).keys.viewer
})
afterAll(() => plane.close())

async function listAll(path: string): Promise<{ id: string }[]> {
  const seen: { id: string }[] = []
  let cursor: string | null = null
  do {
    const suffix: string = cursor === null ? '' : `&cursor=${cursor}`
    const { status, json } = await plane.call<List<{ id: string }>>('GET', `${path}?limit=100${suffix}`, {
      key,
    })
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
