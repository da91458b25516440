import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openConfiguredEgress } from '../../http/egress/open-egress.ts'
import { openModelListsJob } from '../../jobs/model-lists-job.ts'
import { claimDueRefreshes, REFRESHES } from '../../storage/models/model-list-refreshes.ts'
import type { ProviderCredentialRow } from '../../storage/models/provider-credentials.ts'
import { DueOwners } from '../../storage/queue-turns.ts'
import { json, openScriptedUpstream, type ScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../../testing/harness/control-plane.ts'
import { roomFor } from '../../testing/harness/queue-room.ts'
import type { z } from '../operation/zod.ts'
import type { CredentialResource } from './credential-resource.ts'
import { refreshModels } from './refresh-models.ts'

type CredentialRecord = z.output<typeof CredentialResource>

const HOUR = 3_600_000
const MINUTE = 60_000
const LEASE = 2 * MINUTE

let plane: ControlPlane
let upstream: ScriptedUpstream
let tenant: Tenant
beforeAll(async () => {
  plane = await openControlPlane()
  upstream = await openScriptedUpstream({ scriptsLists: true })
})
afterAll(async () => {
  await upstream.close()
  await plane.close()
})
beforeEach(async () => {
  tenant = await plane.insertTenant('acme')
  // Nothing of an earlier test is due.
  await plane.database.pool.query('update provider_credentials set refresh_at = null')
  upstream.script(list('old'))
})

const list = (...ids: string[]) => json(200, { data: ids.map(id => ({ id })) })
const create = async (by = tenant): Promise<string> => {
  const path = `/v1/environments/${by.development.id}/provider-credentials`
  const body = { provider: 'openai', name: 'n', api_key: 'k', base_url: upstream.baseUrl }
  return (await plane.call<CredentialRecord>('POST', path, { key: by.keys.developer, body })).json.id
}
const stored = async (id: string): Promise<ProviderCredentialRow> =>
  await plane.database.db
    .selectFrom('provider_credentials')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
const owners = new DueOwners(REFRESHES)
const claim = (limit = 100) =>
  claimDueRefreshes(plane.database.db, plane.clock.now(), roomFor(limit), LEASE, owners)
const services = (egress = openConfiguredEgress({ allowPrivate: true })) => {
  const { clock, secretBox, newId, database } = plane
  return { db: database.db, clock, secretBox, newId, egress }
}
const refreshDue = async (egress?: ReturnType<typeof openConfiguredEgress>): Promise<number> => {
  const due = await claim()
  for (const each of due) await refreshModels(each, services(egress))
  return due.length
}
const later = (ms: number) => new Date(plane.clock.now() + ms)

test("asks for a provider's models an hour after the last time, and stores them", async () => {
  const id = await create()
  plane.clock.advance(HOUR - 1)
  expect(await refreshDue()).toBe(0)
  plane.clock.advance(1)
  upstream.script(list('new', 'old'))
  expect(await refreshDue()).toBe(1)
  expect(await stored(id)).toMatchObject({
    discovered_models: ['new', 'old'],
    last_validated_at: later(0),
    refresh_at: later(HOUR),
  })
})

test('gives a due credential to one of several processes, and again when its lease has expired', async () => {
  const ids = [await create(), await create(), await create()]
  plane.clock.advance(HOUR)
  const claimed = (await Promise.all([claim(), claim(), claim()])).flat().map(row => row.id)
  expect(claimed.sort()).toEqual(ids.sort())
  expect(await claim()).toEqual([])
  plane.clock.advance(LEASE)
  expect(await claim()).toHaveLength(3)
})

test('keeps models and validation of a provider that fails, and asks it ever later', async () => {
  const id = await create()
  const validatedAt = later(0)
  plane.clock.advance(HOUR)
  upstream.script(json(500, {}), json(429, {}), json(404, {}), list('back'))
  for (const [index, minutes] of [5, 10, 20].entries()) {
    expect(await refreshDue()).toBe(1)
    expect(await stored(id)).toMatchObject({
      discovered_models: ['old'],
      validation_error: null,
      last_validated_at: validatedAt,
      refresh_failures: index + 1,
      refresh_at: later(minutes * MINUTE),
    })
    plane.clock.advance(minutes * MINUTE)
  }
  await refreshDue()
  expect(await stored(id)).toMatchObject({
    discovered_models: ['back'],
    refresh_failures: 0,
    refresh_at: later(HOUR),
  })
})

test('stores that a provider rejects the key now, and asks it later too', async () => {
  const id = await create()
  plane.clock.advance(HOUR)
  upstream.script(json(401, {}))
  await refreshDue()
  expect(await stored(id)).toMatchObject({
    validation_error: 'The provider refused this credential.',
    discovered_models: ['old'],
    refresh_at: later(5 * MINUTE),
  })
})

test('keeps the order of a list that names the same models, so that no snapshot is loaded again', async () => {
  upstream.script(list('a', 'b'))
  const id = await create()
  plane.clock.advance(HOUR)
  upstream.script(list('b', 'a'))
  await refreshDue()
  expect((await stored(id)).discovered_models).toEqual(['a', 'b'])
})

test('asks at once about a key that was changed', async () => {
  const id = await create()
  const { status } = await plane.call('PATCH', `/v1/provider-credentials/${id}`, {
    key: tenant.keys.developer,
    body: { api_key: 'k2' },
  })
  expect(status).toBe(200)
  upstream.script(list('of-k2'))
  expect(await refreshDue()).toBe(1)
  expect(upstream.requests.at(-1)?.headers.authorization).toBe('Bearer k2')
  expect((await stored(id)).discovered_models).toEqual(['of-k2'])
})

test('leaves out credentials of a deleted project for good', async () => {
  const id = await create()
  await plane.database.pool.query('update projects set deleted_at = now() where id = $1', [tenant.project.id])
  plane.clock.advance(HOUR)
  expect(await claim()).toEqual([])
  expect((await stored(id)).refresh_at).toBeNull()
})

test('gives organizations turns, so that one with many credentials delays no other', async () => {
  for (let n = 0; n < 5; n++) await create()
  plane.clock.advance(1)
  const other = await plane.insertTenant('other')
  const id = await create(other)
  plane.clock.advance(HOUR)
  expect((await claim(2)).map(row => row.id)).toContain(id)
})

test('sends nothing to an address that the egress guard refuses', async () => {
  const id = await create()
  plane.clock.advance(HOUR)
  const seen = upstream.requests.length
  expect(await refreshDue(openConfiguredEgress({ allowPrivate: false }))).toBe(1)
  expect(upstream.requests).toHaveLength(seen)
  expect(await stored(id)).toMatchObject({ discovered_models: ['old'], refresh_failures: 1 })
})

test('counts a key that cannot be decrypted as a failure, so that it is not met again at once', async () => {
  const id = await create()
  await plane.database.pool.query(`update provider_credentials set secret_cipher = '\\x00' where id = $1`, [
    id,
  ])
  plane.clock.advance(HOUR)
  const [due] = await claim()
  await expect(refreshModels(due as ProviderCredentialRow, services())).rejects.toThrow()
  expect(await stored(id)).toMatchObject({ refresh_failures: 1, refresh_at: later(5 * MINUTE) })
})

test('a job that closes cuts its requests and stores no result of them', async () => {
  const id = await create()
  plane.clock.advance(HOUR)
  let arrived = (): void => {}
  const arrival = new Promise<void>(resolve => {
    arrived = resolve
  })
  upstream.script(() => arrived())
  const job = openModelListsJob({
    claim: () => claim(),
    refresh: (row, signal) => refreshModels(row, services(), signal),
    log: { error: () => {} },
  })
  await arrival
  await job.close()
  expect(await stored(id)).toMatchObject({ refresh_failures: 0, refresh_at: later(LEASE) })
})
