import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ControlPlane, openControlPlane, type Tenant } from '../../testing/harness/control-plane.ts'

interface StoredRecord {
  readonly id: string
  readonly updated_at: string
  readonly name?: string
}

let plane: ControlPlane
let tenant: Tenant
let key: string
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('versions')
  key = tenant.keys.admin
})
afterAll(() => plane.close())

const call = (method: string, path: string, body?: object, ifMatch?: string) => {
  plane.clock.advance(1)
  const headers: Record<string, string> = ifMatch === undefined ? {} : { 'If-Match': ifMatch }
  return plane.call<StoredRecord>(method, path, { key, headers, ...(body === undefined ? {} : { body }) })
}
const createKey = async () => {
  const path = `/v1/environments/${tenant.development.id}/keys`
  const { json } = await call('POST', path, { kind: 'secret', name: 'first' })
  return `/v1/keys/${json.id}`
}

test('a change based on an outdated version is 409 resource_conflict and changes nothing', async () => {
  const path = await createKey()
  const read = await call('GET', path)
  const tag = read.headers.get('etag') ?? ''
  expect(tag).toBe(`"${read.json.updated_at}"`)
  const changed = await call('PATCH', path, { name: 'second' }, tag)
  expect(changed.outcome).toBe('200')
  expect(changed.headers.get('etag')).toBe(`"${changed.json.updated_at}"`)
  expect((await call('PATCH', path, { name: 'third' }, tag)).outcome).toBe('409 resource_conflict If-Match')
  expect((await call('DELETE', path, undefined, tag)).outcome).toBe('409 resource_conflict If-Match')
  expect((await call('GET', path)).json.name).toBe('second')
})

test('any of several tags, a star and no header are enough', async () => {
  const path = await createKey()
  const tag = (await call('GET', path)).headers.get('etag')
  expect((await call('PATCH', path, { name: 'a' }, `"other", ${tag}`)).outcome).toBe('200')
  expect((await call('PATCH', path, { name: 'b' }, '*')).outcome).toBe('200')
  expect((await call('PATCH', path, { name: 'c' })).outcome).toBe('200')
  expect((await call('PATCH', path, { name: 'd' }, `W/${tag}`)).outcome).toBe(
    '409 resource_conflict If-Match',
  )
})

test('makes one of two concurrent changes with the same tag', async () => {
  for (const path of [await createKey(), `/v1/orgs/${tenant.organization.id}`]) {
    const tag = (await call('GET', path)).headers.get('etag') ?? ''
    const changes = ['a', 'b', 'c', 'd', 'e', 'f'].map(name => call('PATCH', path, { name }, tag))
    const outcomes = (await Promise.all(changes)).map(({ outcome }) => outcome).sort()
    expect(outcomes).toEqual(['200', ...Array.from({ length: 5 }, () => '409 resource_conflict If-Match')])
  }
})

test('a route that creates refuses the header, and one that reads ignores it', async () => {
  const path = `/v1/environments/${tenant.development.id}/keys`
  expect((await call('POST', path, { kind: 'secret', name: 'x' }, '"a"')).outcome).toBe(
    '400 invalid_request If-Match',
  )
  expect((await call('GET', path, undefined, '"a"')).outcome).toBe('200')
})
