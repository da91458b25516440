import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../testing/harness/app.ts'

/** Deleting a project or an organization revokes everything below it, at the gateway too, before the deletion answers. */

let app: TestApp
let cookie: string
beforeAll(async () => {
  app = await openTestApp()
  const response = await fetch(`${app.controlUrl}/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'owner@example.com', password: 'a long enough password' }),
  })
  cookie = response.headers.getSetCookie()[0]?.split(';', 1)[0] as string
})
afterAll(() => app.close())

/** Calls with the owner's session, as the dashboard does. */
const asOwner = (method: string, path: string, body?: unknown) =>
  fetch(app.controlUrl + path, {
    method,
    headers: {
      cookie,
      origin: app.controlUrl,
      'x-rideau-csrf': '1',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

async function callGateway(key: string): Promise<string> {
  const body = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hello' }] }
  const response = await app.call('/v1/chat', body, { key })
  const { error } = (await response.json()) as { error?: { code: string } }
  return [response.status, error?.code].filter(part => part !== undefined).join(' ')
}

/** Creates a project with a key that the gateway accepts and has in its snapshot. */
async function newProject(orgId: string): Promise<{ id: string; key: string }> {
  const made = await asOwner('POST', `/v1/orgs/${orgId}/projects`, { name: 'doomed' })
  const { id } = (await made.json()) as { id: string }
  const list = await asOwner('GET', `/v1/projects/${id}/environments`)
  const { data } = (await list.json()) as { data: { id: string; name: string }[] }
  const development = data.find(({ name }) => name === 'development')?.id as string
  const created = await asOwner('POST', `/v1/environments/${development}/keys`, { kind: 'secret', name: 'k' })
  const { key } = (await created.json()) as { key: string }
  expect(await callGateway(key)).toBe('200')
  return { id, key }
}

describe('the first gateway call after the response to a deletion', () => {
  test('rejects the keys of a deleted project, and no others, with 401 key_revoked', async () => {
    const { id, key } = await newProject(app.orgId)
    expect((await asOwner('DELETE', `/v1/projects/${id}`)).status).toBe(204)
    expect(await callGateway(key)).toBe('401 key_revoked')
    expect(await callGateway(app.secretKey)).toBe('200')
  })

  test('rejects every key below a deleted organization with 401 key_revoked', async () => {
    const made = await asOwner('POST', '/v1/orgs', { name: 'doomed' })
    const { id } = (await made.json()) as { id: string }
    const projects = [await newProject(id), await newProject(id)]
    expect((await asOwner('DELETE', `/v1/orgs/${id}`)).status).toBe(204)
    for (const { key } of projects) expect(await callGateway(key)).toBe('401 key_revoked')
    expect(await callGateway(app.secretKey)).toBe('200')
  })
})
