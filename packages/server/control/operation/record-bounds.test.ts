import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasMoreRecords } from '../../storage/record-bounds.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../../testing/harness/control-plane.ts'
import { MAX_ENVIRONMENT_BYTES, MAX_RULES, RECORD_BOUNDS } from './record-bounds.ts'

const KiB = 1024

let plane: ControlPlane
let tenant: Tenant
let key: string
let environment: string
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
  key = tenant.keys.admin
  environment = `/v1/environments/${tenant.development.id}`
})
afterAll(() => plane.close())

interface Answer {
  readonly id: string
  readonly error?: { readonly code: string; readonly message: string; readonly param: string | null }
}
const call = (method: string, path: string, body?: unknown, as = key) =>
  plane.call<Answer>(method, path, { key: as, body })

/** A list of this many bytes in all. */
function listOf(bytes: number): string[] {
  const entries = Math.ceil(bytes / 250)
  const list = Array.from({ length: entries }, (_, at) => String(at).padStart(250, 'x'))
  return [...list.slice(1), 'y'.repeat(bytes - 250 * (entries - 1))]
}

describe('record counts', () => {
  test.each([...RECORD_BOUNDS.keys()])('%s is an operation, and its records can be counted', async name => {
    const bound = RECORD_BOUNDS.get(name) as NonNullable<ReturnType<(typeof RECORD_BOUNDS)['get']>>
    const now = new Date(plane.clock.now())
    expect(await hasMoreRecords(plane.database.db, bound, plane.newId(), 0, now)).toBe(false)
    const document = await (await fetch(`${plane.url}/openapi.json`)).json()
    const operations = Object.values((document as any).paths).flatMap((path: any) => Object.values(path))
    expect(operations.map((each: any) => each.operationId)).toContain(name)
  })

  test('409 resource_conflict: a record more than an organization may have; one fewer makes room', async () => {
    const path = `/v1/orgs/${tenant.organization.id}/webhooks`
    const webhook = { url: 'https://192.0.43.8/hook', events: ['budget.alert'] }
    const first = await call('POST', path, webhook)
    expect(first.status).toBe(201)
    await plane.database.pool.query(
      `insert into webhooks select (w.r).* from (select jsonb_populate_record(webhooks,
        jsonb_build_object('id', gen_random_uuid())) as r from webhooks, generate_series(1, 99)) w`,
    )
    const { status, json } = await call('POST', path, webhook)
    expect([status, json.error?.code]).toEqual([409, 'resource_conflict'])
    expect(json.error?.message).toBe('An organization may have at most 100 webhooks: delete one first.')
    await call('DELETE', `/v1/webhooks/${first.json.id}`)
    expect((await call('POST', path, webhook)).status).toBe(201)
  })

  test('revoked and expired keys do not count, and other owners have room of their own', async () => {
    const path = `/v1/orgs/${tenant.organization.id}/management-keys`
    const body = { name: 'one more', role: 'viewer' }
    const { owner } = tenant.people
    const create = () => plane.call<Answer>('POST', path, { cookie: owner.cookie, body })
    const made = await create()
    expect(made.status).toBe(201)
    const copy = (count: number, extra: string) =>
      plane.database.pool.query(
        `insert into management_keys select (w.r).* from (select jsonb_populate_record(m, jsonb_build_object(
            'id', gen_random_uuid(), 'hash', '\\x' || replace(gen_random_uuid()::text, '-', '')${extra})) as r
          from management_keys m, generate_series(1, ${count}) where m.id = '${made.json.id}') w`,
      )
    await copy(600, `, 'revoked_at', '2020-01-01'`)
    await copy(600, `, 'expires_at', '2020-01-01'`)
    expect((await create()).status).toBe(201)
    await copy(1000, '')
    expect((await create()).json.error?.message).toContain('at most 1,000 management keys: revoke one')
    const other = await plane.insertTenant('other')
    const theirs = `/v1/orgs/${other.organization.id}/management-keys`
    expect((await plane.call('POST', theirs, { cookie: other.people.owner.cookie, body })).status).toBe(201)
  })
})

describe('rules of one owner and scope', () => {
  const limit = { scope: 'environment', metric: 'requests', limit: 100 }

  test('409 resource_conflict: one too many, by creating or moving one; other scopes have room of their own', async () => {
    const path = `${environment}/limits`
    const made: string[] = []
    for (let at = 0; at < MAX_RULES; at++) {
      const { status, json } = await call('POST', path, { ...limit, window_seconds: 60 + at })
      expect(status).toBe(201)
      made.push(json.id)
    }
    const refused = await call('POST', path, limit)
    expect([refused.status, refused.json.error?.code]).toEqual([409, 'resource_conflict'])
    expect(refused.json.error?.message).toBe(
      'At most 50 limits may have the same owner and scope: delete one first.',
    )
    const perUser = await call('POST', path, { ...limit, scope: 'default_end_user' })
    expect(perUser.status).toBe(201)
    const moved = await call('PATCH', `/v1/limits/${perUser.json.id}`, { scope: 'environment' })
    expect([moved.status, moved.json.error?.code]).toEqual([409, 'resource_conflict'])
    expect((await call('PATCH', `/v1/limits/${made[0]}`, { limit: 7 })).status).toBe(200)
    await call('DELETE', `/v1/limits/${made[0]}`)
    expect((await call('POST', path, limit)).status).toBe(201)
    for (const scope_ref of ['ann', 'ben']) {
      const { status } = await call('POST', path, { ...limit, scope: 'end_user', scope_ref })
      expect(status).toBe(201)
    }
  })

  test('the same holds for quotas and budgets, also of the organization', async () => {
    const { organization, project } = tenant
    const owners: [string, object][] = [
      [`${environment}/quotas`, { scope: 'default_end_user', metric: 'tokens', window: 'day', limit: 9 }],
      [`/v1/projects/${project.id}/budgets`, { limit_usd: 1, window: 'day' }],
      [`/v1/orgs/${organization.id}/budgets`, { limit_usd: 1, window: 'day' }],
      [`/v1/orgs/${organization.id}/limits`, { scope: 'org', metric: 'requests', limit: 9 }],
    ]
    for (const [path, body] of owners) {
      const statuses: number[] = []
      for (let at = 0; at <= MAX_RULES; at++) statuses.push((await call('POST', path, body)).status)
      expect(statuses).toEqual([...Array.from({ length: MAX_RULES }, () => 201), 409])
    }
  })
})

describe('bytes', () => {
  test.each([
    [
      'a key',
      'POST',
      '/keys',
      'restrictions.allowed_models',
      (list: string[]) => ({ kind: 'secret', name: 'k', restrictions: { allowed_models: list } }),
    ],
    ['a plan', 'POST', '/plans', 'allowed_models', (list: string[]) => ({ name: 'p', allowed_models: list })],
    ['an environment', 'PATCH', '', 'allowed_models', (list: string[]) => ({ allowed_models: list })],
  ] as const)(
    '400 invalid_request: an allow-list of %s above 64 KiB',
    async (_, method, path, param, body) => {
      const refused = await call(method, environment + path, body(listOf(64 * KiB + 1)))
      expect([refused.status, refused.json.error?.code, refused.json.error?.param]).toEqual([
        400,
        'invalid_request',
        param,
      ])
      expect(refused.json.error?.message).toContain('at most 65536 bytes in all its entries; got 65537')
      expect((await call(method, environment + path, body(listOf(64 * KiB)))).status).toBeLessThan(300)
      if (path === '') await call(method, environment, { allowed_models: null })
    },
  )

  test('400 invalid_request: required claims and options above 64 KiB', async () => {
    const claims = Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`c${at}`, listOf(50 * 250)]))
    const federated = { issuer: 'https://issuer.example', audiences: ['a'], required_claims: claims }
    const put = await call('PUT', `/v1/projects/${tenant.project.id}/federated-auth`, federated)
    expect([put.status, put.json.error?.param]).toEqual([400, 'required_claims'])
    expect(put.json.error?.message).toContain('at most 65536 bytes')
    const deployments = Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => [`m${at}`, 'x'.repeat(4000)]),
    )
    const azure = { provider: 'azure', name: 'a', api_key: 'k', options: { resource: 'r', deployments } }
    const created = await call('POST', `${environment}/provider-credentials`, azure)
    expect([created.status, created.json.error?.param]).toEqual([400, 'options'])
  })

  test('409 resource_conflict: the change that would give an environment more than 4 MiB, which stays undone', async () => {
    const path = `/v1/environments/${tenant.production.id}`
    const create = (name: string) => call('POST', `${path}/plans`, { name, allowed_models: listOf(64 * KiB) })
    const statuses: number[] = []
    for (let at = 0; at * 64 * KiB < MAX_ENVIRONMENT_BYTES; at++)
      statuses.push((await create(`p${at}`)).status)
    expect(statuses.filter(status => status === 201).length).toBeGreaterThan(55)
    expect(statuses.at(-1)).toBe(409)
    for (const [method, at, body] of [
      ['POST', '/plans', { name: 'more', allowed_models: listOf(64 * KiB) }],
      ['PATCH', '', { allowed_models: listOf(64 * KiB) }],
    ] as const) {
      const { status, json } = await call(method, path + at, body)
      expect([status, json.error?.code]).toEqual([409, 'resource_conflict'])
      expect(json.error?.message).toMatch(/would have \d+ bytes .* may have 4 MiB/)
    }
    expect((await call('GET', path)).json).toMatchObject({ allowed_models: null })
    // A short one still fits.
    expect((await call('POST', `${path}/plans`, { name: 'short' })).status).toBe(201)
  })

  test('an environment that has more than 4 MiB already can be changed, but not made larger', async () => {
    const own = await plane.insertTenant('large')
    const as = own.keys.admin
    const path = `/v1/environments/${own.development.id}`
    const body = { name: 'long', allowed_models: listOf(60 * KiB) }
    const { id } = (await call('POST', `${path}/plans`, body, as)).json
    await plane.database.pool.query(
      `insert into plans select (p.r).* from (select jsonb_populate_record(plans, jsonb_build_object(
        'id', gen_random_uuid(), 'name', 'copy ' || n)) as r from plans, generate_series(1, 79) n where id = $1) p`,
      [id],
    )
    const change = (allowed_models: readonly string[]) =>
      call('PATCH', `/v1/plans/${id}`, { allowed_models }, as)
    expect((await change(listOf(60 * KiB + 1))).status).toBe(409)
    expect((await call('POST', `${path}/plans`, { name: 'more' }, as)).status).toBe(409)
    expect((await call('PATCH', `/v1/plans/${id}`, { tokens_per_day: 5 }, as)).status).toBe(200)
    expect((await change(listOf(30 * KiB))).status).toBe(200)
    expect((await change(listOf(31 * KiB))).status).toBe(409)
    expect((await call('PATCH', path, { allowed_models: ['sandbox/echo'] }, as)).status).toBe(409)
    expect((await call('PATCH', path, { log_retention_days: 5 }, as)).status).toBe(200)
  })
})

describe('lists', () => {
  test('a page of long records has fewer of them than `limit`, and all pages together have every one', async () => {
    for (let at = 0; at < 40; at++) {
      plane.clock.advance(1)
      await call('POST', `${environment}/keys`, {
        kind: 'secret',
        name: `long ${at}`,
        restrictions: { allowed_models: listOf(64 * KiB) },
      })
    }
    const names: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: any = await plane.call(
        'GET',
        `${environment}/keys?limit=100${cursor && `&cursor=${cursor}`}`,
        { key },
      )
      expect(page.text.length).toBeLessThan(2 * KiB * KiB)
      expect(page.json.data.length).toBeGreaterThan(0)
      expect(page.json.has_more).toBe(page.json.next_cursor !== null)
      names.push(...page.json.data.map(({ name }: { name: string }) => name))
      cursor = page.json.next_cursor
    }
    const made = names.filter(name => name.startsWith('long'))
    expect(made).toEqual(Array.from({ length: 40 }, (_, at) => `long ${39 - at}`))
  })

  test('an entry of the audit log has at most 64 KiB of a long record, with its short fields whole', async () => {
    const { json } = await call('POST', `${environment}/plans`, {
      name: 'audited',
      allowed_models: listOf(64 * KiB),
    })
    plane.clock.advance(1)
    await call('PATCH', `/v1/plans/${json.id}`, { tokens_per_day: 5 })
    const page: any = await plane.call(
      'GET',
      `/v1/orgs/${tenant.organization.id}/audit-log?resource_id=${json.id}`,
      { key },
    )
    const [changed] = page.json.data
    expect(JSON.stringify(changed).length).toBeLessThan(66 * KiB)
    expect(changed.before).toMatchObject({ name: 'audited', tokens_per_day: null })
    expect(changed.after).toMatchObject({ name: 'audited', tokens_per_day: 5 })
    expect(changed.after.allowed_models.at(-1)).toMatch(/^… and \d+ more$/)
  })
})
