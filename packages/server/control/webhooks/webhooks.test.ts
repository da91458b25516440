import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openConfiguredEgress } from '../../http/egress/open-egress.ts'
import {
  type ControlPlane,
  type List,
  openControlPlane,
  type Tenant,
} from '../../testing/harness/control-plane.ts'
import type { z } from '../operation/zod.ts'
import type { NewWebhookResource, WebhookResource } from './webhook-resource.ts'

type Webhook = z.output<typeof WebhookResource>
type NewWebhook = z.output<typeof NewWebhookResource>

let plane: ControlPlane
let tenant: Tenant
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
})
afterAll(() => plane.close())

const pathOf = (of: Tenant): string => `/v1/orgs/${of.organization.id}/webhooks`
const events = ['quota.alert', 'budget.alert', 'quota.alert']

test('a webhook is created with its secret shown once, listed, changed in part and removed; the secret is sealed', async () => {
  const key = tenant.keys.admin
  const url = 'https://hooks.example.com/rideau?x=1'
  const made = await plane.call<NewWebhook>('POST', pathOf(tenant), { key, body: { url, events } })
  expect(made.status).toBe(201)
  const { secret, ...record } = made.json
  const now = new Date(plane.clock.now()).toISOString()
  expect(record).toEqual({
    id: expect.any(String),
    org_id: tenant.organization.id,
    url,
    events: ['budget.alert', 'quota.alert'],
    created_at: now,
    updated_at: now,
  })
  const [, encoded = ''] = /^whsec_([A-Za-z0-9+/]+=*)$/.exec(secret) ?? []
  expect(Buffer.from(encoded, 'base64')).toHaveLength(32)
  const { secret_cipher } = await plane.database.db
    .selectFrom('webhooks')
    .select('secret_cipher')
    .where('id', '=', record.id)
    .executeTakeFirstOrThrow()
  expect(plane.secretBox.open(secret_cipher, `webhooks:${record.id}`)).toBe(secret)
  const page = await plane.call<List<Webhook>>('GET', pathOf(tenant), { key: tenant.keys.viewer })
  expect(page.json.data).toEqual([record])
  const one = `/v1/webhooks/${record.id}`
  const changed = await plane.call('PATCH', one, { key, body: { events: ['circuit.open'] } })
  expect(changed.json).toEqual({ ...record, events: ['circuit.open'] })
  const moved = await plane.call<Webhook>('PATCH', one, { key, body: { url: 'http://127.0.0.1:1/' } })
  expect(moved.json.url).toBe('http://127.0.0.1:1/')
  const { rows } = await plane.database.pool.query('select before, after from audit_log')
  expect(JSON.stringify(rows)).not.toContain(encoded)
  expect((await plane.call('DELETE', one, { key })).status).toBe(204)
  expect((await plane.call('DELETE', one, { key })).outcome).toBe('404 resource_not_found')
})

describe('400 invalid_request', () => {
  test.each([
    [{ url: 'not a url' }, 'url'],
    [{ url: 'ftp://example.com' }, 'url'],
    [{ url: 'https://user:pass@example.com' }, 'url'],
    [{ url: 'https://example.com/#x' }, 'url'],
    [{ url: 'http://169.254.169.254/latest' }, 'url'],
    [{ url: null }, 'url'],
    [{ events: [] }, 'events'],
    [{ events: ['everything'] }, 'events[0]'],
    [{ events: null }, 'events'],
    [{ secret: 'mine' }, 'secret'],
  ])('%j', async (change, param) => {
    const body = { url: 'https://example.com', events: ['budget.alert'], ...change }
    const { outcome } = await plane.call('POST', pathOf(tenant), { key: tenant.keys.admin, body })
    expect(outcome).toBe(`400 invalid_request ${param}`)
  })

  test.each([
    'http://hooks.example.com',
    'https://hooks.example.com:8443',
    'https://127.0.0.1',
    'https://2130706433',
    'https://[::ffff:10.0.0.1]',
    'https://10.1.2.3/hook',
  ])('url %s if private addresses are not allowed', async url => {
    const closed = await openControlPlane({ egress: openConfiguredEgress({ allowPrivate: false }) })
    try {
      const there = await closed.insertTenant('acme')
      const body = { url, events: ['budget.alert'] }
      const { outcome } = await closed.call('POST', pathOf(there), { key: there.keys.admin, body })
      expect(outcome).toBe('400 invalid_request url')
    } finally {
      await closed.close()
    }
  })
})

test('a test is queued once at a time, and is listed as a delivery with its state', async () => {
  const key = tenant.keys.admin
  const body = { url: 'https://hooks.example.com/test', events: ['budget.alert'] }
  const { json: made } = await plane.call<NewWebhook>('POST', pathOf(tenant), { key, body })
  const one = `/v1/webhooks/${made.id}`
  expect((await plane.call('POST', `${one}/test`, { key: tenant.keys.developer })).outcome).toBe(
    '403 insufficient_role',
  )
  const tested = await plane.call('POST', `${one}/test`, { key })
  expect(tested.status).toBe(201)
  const now = new Date(plane.clock.now()).toISOString()
  const pending = {
    id: expect.any(String),
    webhook_id: made.id,
    event: 'webhook.test',
    state: 'pending',
    attempts: 0,
    next_attempt_at: now,
    delivered_at: null,
    failure: null,
    created_at: now,
  }
  expect(tested.json).toEqual(pending)
  expect((await plane.call('POST', `${one}/test`, { key })).outcome).toBe('409 resource_conflict')
  await plane.database.pool.query(
    `update webhook_deliveries set next_attempt_at = null, attempts = 6, failure = 'answered 500' where webhook_id = $1`,
    [made.id],
  )
  expect((await plane.call('POST', `${one}/test`, { key })).status).toBe(201)
  const listed = await plane.call<List<unknown>>('GET', `${one}/deliveries?limit=1`, {
    key: tenant.keys.viewer,
  })
  const next = await plane.call<List<unknown>>(
    'GET',
    `${one}/deliveries?limit=1&cursor=${listed.json.next_cursor}`,
    { key },
  )
  const both = [...listed.json.data, ...next.json.data]
  const failed = {
    ...pending,
    state: 'failed',
    attempts: 6,
    next_attempt_at: null,
    failure: 'answered 500',
  }
  expect(both).toEqual(expect.arrayContaining([pending, failed]))
  expect((await plane.call('GET', `${one}/deliveries?event=x`, { key })).outcome).toBe(
    '400 request_validation_failed event',
  )
})

test('an organization sees only its own webhooks', async () => {
  const other = await plane.insertTenant('other')
  const body = { url: 'https://example.com', events: ['budget.alert'] }
  const made = await plane.call<NewWebhook>('POST', pathOf(other), { key: other.keys.admin, body })
  const one = `/v1/webhooks/${made.json.id}`
  expect((await plane.call('PATCH', one, { key: tenant.keys.admin, body: {} })).outcome).toBe(
    '404 resource_not_found',
  )
  const theirs = { key: tenant.keys.admin }
  expect((await plane.call('POST', `${one}/test`, theirs)).outcome).toBe('404 resource_not_found')
  expect((await plane.call('GET', `${one}/deliveries`, theirs)).outcome).toBe('404 resource_not_found')
})
