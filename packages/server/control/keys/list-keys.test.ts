import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ControlPlane, type List, openControlPlane } from '../../testing/harness/control-plane.ts'

let plane: ControlPlane
let path: string
let key: string
beforeAll(async () => {
  plane = await openControlPlane()
  const tenant = await plane.insertTenant('found')
  path = `/v1/environments/${tenant.production.id}/keys`
  key = tenant.keys.developer
  const create = async (name: string, more: object = {}) => {
    const made = await plane.call<{ id: string }>('POST', path, {
      key,
      body: { kind: 'secret', name, ...more },
    })
    expect(made.outcome).toBe('201')
    plane.clock.advance(1000)
    return made.json.id
  }
  await create('Web backend')
  const gone = await create('web old')
  // JavaScript and PostgreSQL have different lower-case letters for these.
  await create('İstanbul ΟΔΟΣ')
  await create('Batch', { expires_at: new Date(plane.clock.now() + 60_000).toISOString() })
  await create('50% off', { expires_at: new Date(plane.clock.now() + 9_000_000).toISOString() })
  await plane.call('POST', `/v1/keys/${gone}/revoke`, { key })
  plane.clock.advance(120_000)
})
afterAll(() => plane.close())

test.each([
  ['', ['50% off', 'Batch', 'İstanbul ΟΔΟΣ', 'web old', 'Web backend']],
  ['q=WEB', ['web old', 'Web backend']],
  ['q=50%25', ['50% off']],
  ['q=%25', []],
  ['q=_', []],
  ['q=İSTANBUL ΟΔΟΣ', ['İstanbul ΟΔΟΣ']],
  ['state=active', ['50% off', 'İstanbul ΟΔΟΣ', 'Web backend']],
  ['state=expired', ['Batch']],
  ['state=revoked', ['web old']],
  ['q=web&state=active', ['Web backend']],
])('keys are found by %j', async (query, names) => {
  const { outcome, json } = await plane.call<List<{ name: string }>>('GET', `${path}?${query}`, { key })
  expect(outcome).toBe('200')
  expect(json.data.map(({ name }) => name)).toEqual(names)
})

test('400 for an unknown state, and for the cursor of another filter', async () => {
  expect((await plane.call('GET', `${path}?state=old`, { key })).outcome).toBe(
    '400 request_validation_failed state',
  )
  const { json } = await plane.call<List<unknown>>('GET', `${path}?q=web&limit=1`, { key })
  expect((await plane.call('GET', `${path}?limit=1&cursor=${json.next_cursor}`, { key })).outcome).toBe(
    '400 invalid_request cursor',
  )
})
