import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashKeyText } from '../../core/access/key-format.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../../testing/harness/control-plane.ts'
import type { z } from '../operation/zod.ts'
import type { KeyResource, NewKeyResource } from './key-resource.ts'

type KeyRecord = z.output<typeof KeyResource>
type NewKeyRecord = z.output<typeof NewKeyResource>

const HOUR_MS = 3_600_000

let plane: ControlPlane
let tenant: Tenant
let key: string
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
  key = tenant.keys.developer
})
afterAll(() => plane.close())

const make = async (fields: object = {}): Promise<NewKeyRecord> => {
  const body = { kind: 'secret', name: 'n', ...fields }
  return (
    await plane.call<NewKeyRecord>('POST', `/v1/environments/${tenant.development.id}/keys`, { key, body })
  ).json
}
const get = async (id: string): Promise<KeyRecord> =>
  (await plane.call<KeyRecord>('GET', `/v1/keys/${id}`, { key })).json
const change = (id: string, body: unknown) => plane.call<KeyRecord>('PATCH', `/v1/keys/${id}`, { key, body })
const roll = (id: string, body?: unknown) =>
  plane.call<NewKeyRecord>('POST', `/v1/keys/${id}/roll`, { key, ...(body === undefined ? {} : { body }) })
const revoke = (id: string) => plane.call('POST', `/v1/keys/${id}/revoke`, { key })
const inHours = (hours: number): string => new Date(plane.clock.now() + hours * HOUR_MS).toISOString()

const RESTRICTED = {
  scopes: ['ai.chat'],
  restrictions: { allowed_models: ['openai/*'], allowed_endpoints: ['chat'], max_request_cost_usd: 0.29 },
}

describe('PATCH', () => {
  test('200: changes only the fields that were sent', async () => {
    const { key: _, ...made } = await make(RESTRICTED)
    plane.clock.advance(1000)
    const expires_at = inHours(1)
    const { status, json } = await change(made.id, { name: 'Renamed', expires_at })
    const updated_at = new Date(plane.clock.now()).toISOString()
    expect([status, json]).toEqual([200, { ...made, name: 'Renamed', expires_at, updated_at }])
    expect(await get(made.id)).toEqual(json)
  })

  test('restrictions that were not sent stay; null removes one, or all', async () => {
    const { id } = await make(RESTRICTED)
    expect((await change(id, { restrictions: { allowed_models: null } })).json.restrictions).toEqual({
      allowed_models: null,
      allowed_endpoints: ['chat'],
      max_request_cost_usd: 0.29,
    })
    expect((await change(id, { restrictions: null })).json.restrictions).toEqual({
      allowed_models: null,
      allowed_endpoints: null,
      max_request_cost_usd: null,
    })
  })

  test('null clears the expiry and restores all scopes', async () => {
    const { id } = await make({ ...RESTRICTED, expires_at: inHours(1) })
    expect((await change(id, { expires_at: null, scopes: null })).json).toMatchObject({
      expires_at: null,
      scopes: ['ai.chat', 'ai.embed', 'ai.images', 'feedback'],
    })
  })

  test.each([
    [{ kind: 'publishable' }, 'invalid_request kind'],
    [{ name: null }, 'invalid_request name'],
    [{ scopes: [] }, 'invalid_scope scopes'],
    [{ scopes: ['root'] }, 'invalid_scope scopes'],
    [{ restrictions: { all: true } }, 'invalid_request restrictions.all'],
    [
      { restrictions: { max_request_cost_usd: 0.0000000001 } },
      'invalid_request restrictions.max_request_cost_usd',
    ],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'invalid_request expires_at'],
    [{ revoked_at: null }, 'invalid_request revoked_at'],
    [{ rolled_to: null }, 'invalid_request rolled_to'],
  ])('400 %j changes nothing', async (body, outcome) => {
    const { id } = await make(RESTRICTED)
    const before = await get(id)
    expect((await change(id, body)).outcome).toBe(`400 ${outcome}`)
    expect(await get(id)).toEqual(before)
  })

  test('409 resource_conflict for a key that has ended', async () => {
    const [revoked, expired, rolled] = [await make(), await make({ expires_at: inHours(1) }), await make()]
    await revoke(revoked.id)
    await roll(rolled.id, { overlap_hours: 72 })
    plane.clock.advance(HOUR_MS)
    for (const { id } of [revoked, expired, rolled]) {
      expect((await change(id, { expires_at: null })).outcome).toBe('409 resource_conflict')
    }
  })
})

describe('roll', () => {
  test.each<[unknown, number]>([
    [undefined, 1],
    [{}, 1],
    [{ overlap_seconds: null }, 1],
    [{ overlap_seconds: 0 }, 0],
    [{ overlap_seconds: 259_200 }, 72],
    [{ overlap_hours: 0 }, 0],
    [{ overlap_hours: 2 }, 2],
    [{ overlap_hours: 72 }, 72],
  ])('201 with %j: the old key ends after %d hours and names the new one', async (body, hours) => {
    const { key: oldText, ...old } = await make(RESTRICTED)
    plane.clock.advance(1000)
    const { status, json } = await roll(old.id, body)
    expect(status).toBe(201)
    const { key: newText, ...rolled } = json
    const now = new Date(plane.clock.now()).toISOString()
    expect(rolled).toEqual({
      ...old,
      id: rolled.id,
      prefix_display: `rd_sk_dev_…${newText.slice(-4)}`,
      created_at: now,
      updated_at: now,
    })
    expect(newText).not.toBe(oldText)
    expect(await get(old.id)).toEqual({
      ...old,
      rolled_to: rolled.id,
      expires_at: inHours(hours),
      updated_at: now,
    })
    const row = await plane.database.db
      .selectFrom('keys')
      .select('hash')
      .where('id', '=', rolled.id)
      .executeTakeFirst()
    expect(row?.hash).toEqual(hashKeyText(newText))
  })

  test.each(['application/x-www-form-urlencoded', 'no media type'])(
    '201 with an empty body of the content type %s, as curl sends with -d and an empty text',
    async type => {
      const { id } = await make()
      const headers = { 'content-type': type }
      const { status } = await plane.call('POST', `/v1/keys/${id}/roll`, { key, raw: '', headers })
      expect(status).toBe(201)
    },
  )

  test("the overlap never extends the old key's expiry, which the new key has too", async () => {
    const expires_at = inHours(3)
    const old = await make({ expires_at })
    const { json } = await roll(old.id, { overlap_hours: 72 })
    expect(json.expires_at).toBe(expires_at)
    expect((await get(old.id)).expires_at).toBe(expires_at)
    expect((await roll(json.id, { overlap_seconds: 60 })).json.expires_at).toBe(expires_at)
    expect((await get(json.id)).expires_at).toBe(inHours(1 / 60))
  })

  test('the new key has the current rights of the old one, not the original ones', async () => {
    const { id } = await make(RESTRICTED)
    await change(id, { restrictions: { allowed_models: ['sandbox/echo'] }, scopes: ['feedback'] })
    expect((await roll(id)).json).toMatchObject({
      scopes: ['feedback'],
      restrictions: { allowed_models: ['sandbox/echo'], allowed_endpoints: ['chat'] },
    })
  })

  test.each([
    [{ overlap_seconds: 1, overlap_hours: 1 }, 'overlap_hours'],
    [{ overlap_seconds: 259_201 }, 'overlap_seconds'],
    [{ overlap_seconds: -1 }, 'overlap_seconds'],
    [{ overlap_seconds: 1.5 }, 'overlap_seconds'],
    [{ overlap_hours: 72.1 }, 'overlap_hours'],
    [{ overlap_hours: '1' }, 'overlap_hours'],
    [{ overlap: 1 }, 'overlap'],
  ])('400 invalid_request: %j', async (body, param) => {
    const { id } = await make()
    expect((await roll(id, body)).outcome).toBe(`400 invalid_request ${param}`)
    expect((await get(id)).rolled_to).toBeNull()
  })

  test('409 resource_conflict for a key that has ended or was rolled', async () => {
    const [revoked, expired, rolled] = [await make(), await make({ expires_at: inHours(1) }), await make()]
    await revoke(revoked.id)
    expect((await roll(rolled.id, { overlap_hours: 72 })).status).toBe(201)
    plane.clock.advance(HOUR_MS)
    for (const { id } of [revoked, expired, rolled]) {
      expect((await roll(id)).outcome).toBe('409 resource_conflict')
    }
  })

  test('one of ten concurrent calls creates the successor', async () => {
    const { id } = await make()
    const outcomes = await Promise.all(Array.from({ length: 10 }, async () => (await roll(id)).outcome))
    expect(outcomes.sort()).toEqual(['201', ...Array.from({ length: 9 }, () => '409 resource_conflict')])
  })
})

describe('reveal', () => {
  test('200 with the record and plaintext of a publishable key, even after it was rolled', async () => {
    const made = await make({ kind: 'publishable' })
    const reveal = (id: string) => plane.call<NewKeyRecord>('POST', `/v1/keys/${id}/reveal`, { key })
    expect((await reveal(made.id)).json).toEqual(made)
    const rolled = (await roll(made.id)).json
    expect(rolled.key).toMatch(/^rd_pk_dev_/)
    expect((await reveal(rolled.id)).json).toEqual(rolled)
    expect((await reveal(made.id)).json).toEqual({ ...(await get(made.id)), key: made.key })
    expect(plane.logged()).not.toContain(made.key)
  })

  test('409 resource_conflict for a secret key, which was shown once', async () => {
    const made = await make()
    const answer = await plane.call('POST', `/v1/keys/${made.id}/reveal`, { key })
    expect(answer.outcome).toBe('409 resource_conflict')
    expect(answer.text).not.toContain(made.key)
  })
})

test('a viewer and another organization have no access', async () => {
  const { id } = await make({ kind: 'publishable' })
  const other = await plane.insertTenant('other')
  for (const [method, action] of [
    ['PATCH', ''],
    ['POST', '/roll'],
    ['POST', '/reveal'],
  ] as const) {
    const path = `/v1/keys/${id}${action}`
    expect((await plane.call(method, path, { key: other.keys.admin, body: {} })).outcome).toBe(
      '404 resource_not_found',
    )
    expect((await plane.call(method, path, { key: tenant.keys.viewer, body: {} })).outcome).toBe(
      '403 insufficient_role',
    )
  }
})
