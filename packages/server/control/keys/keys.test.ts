import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashKeyText, parseKeyText } from '../../core/access/key-format.ts'
import {
  type ControlPlane,
  type List,
  openControlPlane,
  type Tenant,
} from '../../testing/harness/control-plane.ts'
import type { z } from '../operation/zod.ts'
import type { KeyResource, NewKeyResource } from './key-resource.ts'

type KeyRecord = z.output<typeof KeyResource>
type NewKeyRecord = z.output<typeof NewKeyResource>

let plane: ControlPlane
let tenant: Tenant
let key: string
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
  key = tenant.keys.developer
})
afterAll(() => plane.close())

const pathOf = (of: Tenant): string => `/v1/environments/${of.development.id}/keys`
const create = (body: unknown) => plane.call<NewKeyRecord>('POST', pathOf(tenant), { key, body })
const stored = (id: string) =>
  plane.database.db.selectFrom('keys').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

describe('create', () => {
  test('201 with every field of the record, and the plaintext once', async () => {
    const { status, json, headers } = await create({ kind: 'secret', name: ' Backend ' })
    expect(status).toBe(201)
    expect(headers.get('cache-control')).toBe('no-store')
    const now = new Date(plane.clock.now()).toISOString()
    expect(json).toEqual({
      id: expect.any(String),
      environment_id: tenant.development.id,
      project_id: tenant.project.id,
      kind: 'secret',
      name: 'Backend',
      prefix_display: `rd_sk_dev_…${json.key.slice(-4)}`,
      scopes: ['ai.chat', 'ai.embed', 'ai.images', 'feedback'],
      restrictions: { allowed_models: null, allowed_endpoints: null, max_request_cost_usd: null },
      expires_at: null,
      revoked_at: null,
      rolled_to: null,
      last_used_at: null,
      created_at: now,
      updated_at: now,
      key: json.key,
    })
    expect(parseKeyText(json.key)).toEqual({ kind: 'secret', environment: 'development' })
    const row = await stored(json.id)
    expect(row.hash).toEqual(hashKeyText(json.key))
    expect(row.publishable_cipher).toBeNull()
  })

  test('the prefix of a production key names the environment', async () => {
    const path = `/v1/environments/${tenant.production.id}/keys`
    const { json } = await plane.call<NewKeyRecord>('POST', path, {
      key,
      body: { kind: 'secret', name: 'n' },
    })
    expect(json.key).toMatch(/^rd_sk_prod_/)
  })

  test('a publishable key is stored sealed, so that it can be shown again', async () => {
    const { json } = await create({ kind: 'publishable', name: 'web' })
    expect(json.key).toMatch(/^rd_pk_dev_/)
    const { publishable_cipher } = await stored(json.id)
    expect(publishable_cipher?.toString('latin1')).not.toContain(json.key)
    expect(plane.secretBox.open(publishable_cipher as Buffer, `keys:${json.id}`)).toBe(json.key)
  })

  test('stores scopes, restrictions and expiry; null means absent', async () => {
    const { json } = await create({
      kind: 'secret',
      name: 'n',
      scopes: ['ai.embed', 'ai.chat', 'ai.chat'],
      restrictions: {
        allowed_models: ['openai/*', 'fast'],
        allowed_endpoints: ['chat'],
        max_request_cost_usd: 0.29,
      },
      expires_at: '2999-01-01T00:00:00+02:00',
    })
    expect(json).toMatchObject({
      scopes: ['ai.chat', 'ai.embed'],
      restrictions: {
        allowed_models: ['openai/*', 'fast'],
        allowed_endpoints: ['chat'],
        max_request_cost_usd: 0.29,
      },
      expires_at: '2998-12-31T22:00:00.000Z',
    })
    expect((await stored(json.id)).max_request_cost_nano_usd).toBe(290_000_000)
    const nulls = { scopes: null, restrictions: { allowed_models: null }, expires_at: null }
    const bare = await create({ kind: 'secret', name: 'n', ...nulls })
    expect(bare.json).toMatchObject({ expires_at: null, restrictions: { allowed_models: null } })
    expect(bare.json.scopes).toHaveLength(4)
  })

  test.each([
    [0.000000001, 1],
    [0.1, 100_000_000],
    [1.005, 1_005_000_000],
    [999_999.999999999, 999_999_999_999_999],
    [0, 0],
  ])('stores a maximum cost of %d USD as %d nano-dollars and returns it as sent', async (usd, nano) => {
    const { json } = await create({
      kind: 'secret',
      name: 'n',
      restrictions: { max_request_cost_usd: usd },
    })
    expect((await stored(json.id)).max_request_cost_nano_usd).toBe(nano)
    expect(json.restrictions.max_request_cost_usd).toBe(usd)
  })

  test.each([
    [{ scopes: [] }, 'invalid_scope scopes'],
    [{ scopes: ['ai.chat', 'ai.fly'] }, 'invalid_scope scopes'],
    [{ scopes: 'ai.chat' }, 'invalid_request scopes'],
    [{ scopes: [1] }, 'invalid_request scopes[0]'],
    [{ kind: 'management' }, 'invalid_request kind'],
    [{ kind: undefined }, 'invalid_request kind'],
    [{ name: '' }, 'invalid_request name'],
    [{ name: null }, 'invalid_request name'],
    [{ name: 'x'.repeat(201) }, 'invalid_request name'],
    [{ name: 'a\u0007' }, 'invalid_request name'],
    [{ restrictions: { allowed_models: 'all' } }, 'invalid_request restrictions.allowed_models'],
    [{ restrictions: { allowed_models: [''] } }, 'invalid_request restrictions.allowed_models[0]'],
    [{ restrictions: { allowed_models: ['a', 7] } }, 'invalid_request restrictions.allowed_models[1]'],
    [{ restrictions: { allowed_endpoints: ['chats'] } }, 'invalid_request restrictions.allowed_endpoints[0]'],
    [{ restrictions: { max_cost: 1 } }, 'invalid_request restrictions.max_cost'],
    [{ restrictions: { max_request_cost_usd: -1 } }, 'invalid_request restrictions.max_request_cost_usd'],
    [{ restrictions: { max_request_cost_usd: 1e7 } }, 'invalid_request restrictions.max_request_cost_usd'],
    [{ restrictions: { max_request_cost_usd: '1' } }, 'invalid_request restrictions.max_request_cost_usd'],
    [{ expires_at: 'tomorrow' }, 'invalid_request expires_at'],
    [{ expires_at: '2999-02-30T00:00:00Z' }, 'invalid_request expires_at'],
    [{ expires_at: '2999-01-01T00:00:00' }, 'invalid_request expires_at'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'invalid_request expires_at'],
    [{ expires_at: '9999-12-31T23:59:59-01:00' }, 'invalid_request expires_at'],
    [{ hash: 'x' }, 'invalid_request hash'],
  ])('400 %j', async (change, outcome) => {
    expect((await create({ kind: 'secret', name: 'n', ...change })).outcome).toBe(`400 ${outcome}`)
  })

  test('400 invalid_request for an expiry at the current millisecond', async () => {
    const expires_at = new Date(plane.clock.now()).toISOString()
    expect((await create({ kind: 'secret', name: 'n', expires_at })).outcome).toBe(
      '400 invalid_request expires_at',
    )
  })
})

describe('the life of a key', () => {
  test('is created, read and revoked for good; the plaintext is never shown again', async () => {
    const other = await plane.insertTenant('life')
    const credential = { key: other.keys.developer }
    const made = await plane.call<NewKeyRecord>('POST', pathOf(other), {
      ...credential,
      body: { kind: 'secret', name: 'n' },
    })
    const { key: text, ...record } = made.json
    const one = `/v1/keys/${record.id}`
    expect((await plane.call('GET', one, credential)).json).toEqual(record)

    plane.clock.advance(5000)
    const writes = plane.writes()
    const revoked = await plane.call<KeyRecord>('POST', `${one}/revoke`, credential)
    expect(revoked.status).toBe(200)
    const at = new Date(plane.clock.now()).toISOString()
    expect(revoked.json).toEqual({ ...record, revoked_at: at, updated_at: at })
    expect(plane.writes()).toBe(writes + 1)

    plane.clock.advance(5000)
    const again = await plane.call<KeyRecord>('POST', `${one}/revoke`, credential)
    expect(again.json).toEqual(revoked.json)
    const removed = await plane.call('DELETE', one, credential)
    expect([removed.status, removed.text]).toEqual([204, ''])
    const listed = await plane.call<List<KeyRecord>>('GET', pathOf(other), credential)
    expect(listed.json).toEqual({ data: [revoked.json], has_more: false, next_cursor: null })
    expect(listed.text).not.toContain(text)
    expect(plane.logged()).not.toContain(text)
  })

  test('DELETE revokes', async () => {
    const { row } = await plane.insertApiKey(tenant)
    expect((await plane.call('DELETE', `/v1/keys/${row.id}`, { key })).status).toBe(204)
    expect((await stored(row.id)).revoked_at?.getTime()).toBe(plane.clock.now())
  })
})

describe('list', () => {
  test('is newest first, with cursors that inserts do not disturb', async () => {
    const other = await plane.insertTenant('pages')
    const credential = { key: other.keys.viewer }
    const made: string[] = []
    for (let n = 0; n < 7; n++) {
      // Two keys have the same millisecond, so that only the id orders them.
      if (n % 2 === 0) plane.clock.advance(1)
      made.push((await plane.insertApiKey(other)).row.id)
    }
    const all = await plane.call<List<KeyRecord>>('GET', pathOf(other), credential)
    const order = all.json.data.map(({ id }) => id)
    expect([...order].sort()).toEqual([...made].sort())
    expect(all.json.data.map(row => row.created_at)).toEqual(
      all.json.data
        .map(row => row.created_at)
        .sort()
        .reverse(),
    )
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const suffix: string = cursor === null ? '' : `&cursor=${cursor}`
      const page = await plane.call<List<KeyRecord>>('GET', `${pathOf(other)}?limit=3${suffix}`, credential)
      seen.push(...page.json.data.map(({ id }) => id))
      expect(page.json.has_more).toBe(page.json.next_cursor !== null)
      cursor = page.json.next_cursor
      plane.clock.advance(1)
      await plane.insertApiKey(other)
    } while (cursor !== null)
    expect(seen).toEqual(order)
  })

  test('a page that the list fills exactly is the last', async () => {
    const other = await plane.insertTenant('exact')
    for (let n = 0; n < 2; n++) await plane.insertApiKey(other)
    const path = `${pathOf(other)}?limit=2`
    const { json } = await plane.call<List<KeyRecord>>('GET', path, { key: other.keys.viewer })
    expect(json).toMatchObject({ has_more: false, next_cursor: null })
  })

  test('400 invalid_request for a cursor that was altered or belongs to another list', async () => {
    const other = await plane.insertTenant('bound')
    for (let n = 0; n < 2; n++) await plane.insertApiKey(other)
    const credential = { key: other.keys.viewer }
    const { json } = await plane.call<List<KeyRecord>>('GET', `${pathOf(other)}?limit=1`, credential)
    const cursor = json.next_cursor ?? ''
    const use = (path: string, text: string) => plane.call('GET', `${path}?cursor=${text}`, credential)
    expect((await use(pathOf(other), cursor)).outcome).toBe('200')
    for (const [at, letter] of [...cursor].entries()) {
      const altered = cursor.slice(0, at) + (letter === 'A' ? 'B' : 'A') + cursor.slice(at + 1)
      expect((await use(pathOf(other), altered)).outcome).toBe('400 invalid_request cursor')
    }
    const elsewhere = [
      `/v1/environments/${other.production.id}/keys`,
      `/v1/environments/${other.development.id}/provider-credentials`,
      '/v1/orgs',
    ]
    for (const path of elsewhere) expect((await use(path, cursor)).outcome).toBe('400 invalid_request cursor')
  })
})
