import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type ControlPlane,
  type List,
  openControlPlane,
  SETUP_TOKEN,
  type Tenant,
} from '../../testing/harness/control-plane.ts'
import type { z } from '../operation/zod.ts'
import { operations } from '../operations.ts'
import type { AuditEntryResource } from './audit-entry-resource.ts'
import { maskSecrets } from './mask-secrets.ts'
import { actsOnItsResource } from './to-audit-entry.ts'

type Entry = z.output<typeof AuditEntryResource>

let plane: ControlPlane
let tenant: Tenant
beforeAll(async () => {
  plane = await openControlPlane()
})
afterAll(() => plane.close())

const list = async (query = '', key = tenant.keys.viewer): Promise<Entry[]> => {
  const path = `/v1/orgs/${tenant.organization.id}/audit-log?${query}`
  return (await plane.call<List<Entry>>('GET', path, { key })).json.data
}
const createKey = async (name: string) => {
  // The order of entries within one millisecond is undefined.
  plane.clock.advance(1)
  const path = `/v1/environments/${tenant.development.id}/keys`
  return await plane.call<{ id: string; key: string }>('POST', path, {
    key: tenant.keys.developer,
    body: { kind: 'secret', name },
  })
}

describe('every write', () => {
  beforeAll(async () => {
    tenant = await plane.insertTenant('acme')
  })

  test('is logged with actor, operation, before, after and address, and without secrets', async () => {
    const made = await createKey('one')
    const { key, ...record } = made.json
    const [entry] = await list()
    expect(entry).toEqual({
      id: expect.any(String),
      org_id: tenant.organization.id,
      created_at: new Date(plane.clock.now()).toISOString(),
      actor: { kind: 'management_key', id: expect.any(String), name: 'developer' },
      operation: 'keys.create',
      resource: { kind: 'keys', id: record.id },
      before: null,
      after: record,
      client_address: '127.0.0.1',
      request_id: made.headers.get('x-request-id'),
    })
    expect(JSON.stringify(entry)).not.toContain(key)
    plane.clock.advance(1)
    await plane.call('POST', `/v1/keys/${record.id}/revoke`, { key: tenant.keys.admin })
    const [revoked] = await list()
    expect(revoked).toMatchObject({
      actor: { name: 'admin' },
      operation: 'keys.revoke',
      resource: { kind: 'keys', id: record.id },
      before: record,
      after: { ...record, revoked_at: expect.any(String), updated_at: expect.any(String) },
    })
  })

  test('a deletion is logged with the deleted record, without its secret', async () => {
    const id = await plane.insertCredential(tenant, 'sk-canary-of-the-provider')
    plane.clock.advance(1)
    await plane.call('DELETE', `/v1/provider-credentials/${id}`, { key: tenant.keys.developer })
    const [entry] = await list()
    expect(entry).toMatchObject({
      operation: 'provider_credentials.delete',
      resource: { kind: 'provider_credentials', id },
      before: { id, provider: 'openai', name: 'inserted' },
      after: null,
    })
    expect(JSON.stringify(entry)).not.toContain('canary')
  })

  test('a rejected or failed write is not logged', async () => {
    const before = await list()
    const path = `/v1/environments/${tenant.development.id}`
    await plane.call('PATCH', path, { key: tenant.keys.viewer, body: { log_retention_days: 5 } })
    await plane.call('PATCH', path, { key: tenant.keys.admin, body: { log_retention_days: 500 } })
    await plane.call('GET', path, { key: tenant.keys.admin })
    expect(await list()).toEqual(before)
  })

  test('is rolled back if its entry cannot be written', async () => {
    await plane.database.pool.query('alter table audit_log rename to audit_log_away')
    const answer = await createKey('unheard of')
    await plane.database.pool.query('alter table audit_log_away rename to audit_log')
    expect(answer.outcome).toBe('500 internal_error')
    const { rows } = await plane.database.pool.query(`select from keys where name = 'unheard of'`)
    expect(rows).toEqual([])
  })

  test('is logged before it is answered, including set-up', async () => {
    const fresh = await openControlPlane()
    try {
      const { json } = await fresh.call<{ organization: { id: string }; user: { id: string } }>(
        'POST',
        '/v1/setup',
        {
          body: {
            setup_token: SETUP_TOKEN,
            email: 'owner@example.com',
            password: 'canary password',
            organization: { name: 'Fresh' },
          },
        },
      )
      const { rows } = await fresh.database.pool.query('select * from audit_log')
      expect(rows).toMatchObject([
        {
          org_id: json.organization.id,
          actor_kind: 'member',
          actor_id: json.user.id,
          actor_name: 'owner@example.com',
          operation: 'setup.create',
          after: { management_key: { name: 'Set-up' }, secret_key: { name: 'Set-up' } },
        },
      ])
      expect(JSON.stringify(rows)).not.toMatch(/canary|rd_(sk|mk)_\w{8}/)
    } finally {
      await fresh.close()
    }
  })
})

describe('the list', () => {
  let first: Entry
  beforeAll(async () => {
    tenant = await plane.insertTenant('filters')
    await createKey('a')
    first = (await list())[0] as Entry
    plane.clock.advance(1000)
    await plane.call('POST', `/v1/keys/${first.resource.id}/revoke`, { key: tenant.keys.admin })
    plane.clock.advance(1000)
    await createKey('b')
  })
  const named = async (query: string): Promise<string[]> => (await list(query)).map(entry => entry.operation)

  test('is newest first, with cursors', async () => {
    expect(await named('')).toEqual(['keys.create', 'keys.revoke', 'keys.create'])
    const path = `/v1/orgs/${tenant.organization.id}/audit-log`
    const call = (query: string) =>
      plane.call<List<Entry>>('GET', `${path}?${query}`, { key: tenant.keys.viewer })
    const { json } = await call('limit=2')
    expect((await call(`limit=2&cursor=${json.next_cursor}`)).json).toMatchObject({
      data: [{ id: first.id }],
      has_more: false,
      next_cursor: null,
    })
    expect((await call(`operation=keys.create&cursor=${json.next_cursor}`)).outcome).toBe(
      '400 invalid_request cursor',
    )
  })

  test('is filtered by actor, operation, resource and time', async () => {
    expect(await named(`actor_id=${first.actor.id}`)).toEqual(['keys.create', 'keys.create'])
    expect(await named('operation=keys.revoke')).toEqual(['keys.revoke'])
    expect(await named(`resource_id=${first.resource.id}`)).toEqual(['keys.revoke', 'keys.create'])
    const [, revoked] = await list()
    expect(await named(`from=${revoked?.created_at}`)).toEqual(['keys.create', 'keys.revoke'])
    expect(await named(`to=${revoked?.created_at}`)).toEqual(['keys.create'])
  })

  test('is read by an index, newest entry first', async () => {
    const plans = await Promise.all(
      ['', `and actor_id = '${first.actor.id}'`, `and operation = 'keys.create'`].map(async condition => {
        const client = await plane.database.pool.connect()
        try {
          await client.query('set enable_seqscan = off')
          const { rows } = await client.query<{ 'QUERY PLAN': string }>(
            `explain select * from audit_log where org_id = '${tenant.organization.id}' ${condition}
              order by at desc, id desc limit 20`,
          )
          return rows.map(row => row['QUERY PLAN']).join('\n')
        } finally {
          client.release(true)
        }
      }),
    )
    for (const plan of plans) {
      expect(plan).toContain('Index')
      expect(plan).not.toContain('Sort')
    }
  })
})

test('every unsafe operation is logged, and those that replace or end something log the previous state', () => {
  for (const operation of operations.filter(({ method }) => method !== 'GET')) {
    if (operation.audit === 'none') continue
    const { access, name } = operation
    const hasOrganization = access === 'session' || (typeof access === 'object' && access.of !== 'actor')
    expect([name, hasOrganization || operation.audit !== undefined]).toEqual([name, true])
    const isCreation = operation.status === 201
    const knowsBefore = actsOnItsResource(operation) || operation.before !== undefined
    expect([name, isCreation || knowsBefore]).toEqual([name, true])
  }
})

test('exactly these unsafe operations change nothing and declare it', () => {
  expect(
    operations
      .filter(({ audit }) => audit === 'none')
      .map(({ name }) => name)
      .sort(),
  ).toEqual([
    'federated_auth.test',
    'invitations.lookup',
    'limits.preview',
    'model_aliases.dry_run',
    'model_aliases.dry_run_new',
    // These two change nothing but what the caller's own dashboard shows.
    'session.delete_view',
    'session.put_view',
  ])
})

test('maskSecrets removes secrets at any depth', () => {
  const value = { id: 1, key: 'k', nested: [{ secret: 's', key_id: 'kept', token: null }], accept_url: 'u' }
  expect(maskSecrets(value)).toEqual({ id: 1, nested: [{ key_id: 'kept' }] })
})
