import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { removeExpiredCreates } from '../../storage/idempotency/idempotent-creates.ts'
import {
  type ControlPlane,
  type List,
  openControlPlane,
  type Tenant,
} from '../../testing/harness/control-plane.ts'
import { openRaw } from '../../testing/harness/raw-connection.ts'
import { isCreating } from '../operation/operation.ts'
import { operations } from '../operations.ts'

interface Key {
  readonly id: string
  readonly name: string
  readonly key: string
}

let plane: ControlPlane
let tenant: Tenant
let keysPath: string
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
  keysPath = `/v1/environments/${tenant.development.id}/keys`
})
afterAll(() => plane.close())

const BODY = { kind: 'secret', name: 'backend' }

interface Options {
  readonly key?: string
  readonly cookie?: string
  readonly body?: unknown
  readonly path?: string
}

/** Creates a key of the development environment with an `Idempotency-Key`. */
function create(idempotencyKey: string, { key, cookie, body = BODY, path = keysPath }: Options = {}) {
  const credential = cookie === undefined ? { key: key ?? tenant.keys.admin } : { cookie }
  const headers = { 'idempotency-key': idempotencyKey }
  return plane.call<Key>('POST', path, { ...credential, body, headers })
}

async function countKeys(): Promise<number> {
  const { rows } = await plane.database.pool.query('select 1 from keys')
  return rows.length
}

describe('a second call with the same Idempotency-Key and body', () => {
  test('gets the first response again, secret included, and creates nothing', async () => {
    const first = await create('once')
    expect([first.outcome, first.headers.get('idempotent-replayed')]).toEqual(['201', null])
    const before = await countKeys()
    const second = await create('once', { body: { name: 'backend', kind: 'secret' } })
    expect([second.outcome, second.headers.get('idempotent-replayed')]).toEqual(['201', 'true'])
    expect(second.text).toBe(first.text)
    expect(second.json.key).toMatch(/^rd_sk_dev_/)
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    expect(await countKeys()).toBe(before)
  })

  test('adds no second entry to the audit log', async () => {
    const { json } = await create('audited')
    await create('audited')
    const { rows } = await plane.database.pool.query('select 1 from audit_log where resource_id = $1', [
      json.id,
    ])
    expect(rows).toHaveLength(1)
  })

  test('creates again 24 hours later', async () => {
    const first = await create('daily')
    plane.clock.advance(24 * 3_600_000 - 1)
    expect((await create('daily')).json.id).toBe(first.json.id)
    plane.clock.advance(1)
    const later = await create('daily')
    expect([later.outcome, later.headers.get('idempotent-replayed')]).toEqual(['201', null])
    expect(later.json.id).not.toBe(first.json.id)
    expect((await create('daily')).json.id).toBe(later.json.id)
  })

  test('gets the first response of the same user also from another session of the user', async () => {
    const { cookie, user } = tenant.people.developer
    const first = await create('by session', { cookie })
    expect(first.outcome).toBe('201')
    const signIn = { email: user.email, password: 'correct horse battery' }
    const session = await plane.call('POST', '/v1/session', { body: signIn, headers: { origin: plane.url } })
    const other = session.headers.getSetCookie()[0]?.split(';', 1)[0] as string
    const second = await create('by session', { cookie: other })
    expect([second.json.id, second.headers.get('idempotent-replayed')]).toEqual([first.json.id, 'true'])
  })
})

describe('a second call with the same Idempotency-Key', () => {
  test('is refused with 409 idempotency_conflict if its body differs', async () => {
    const first = await create('conflict')
    const second = await create('conflict', { body: { ...BODY, name: 'other' } })
    expect(second.outcome).toBe('409 idempotency_conflict Idempotency-Key')
    expect(second.headers.get('x-should-retry')).toBe('false')
    expect((await create('conflict')).json.id).toBe(first.json.id)
  })

  test('is a call of its own if its credential differs', async () => {
    const ids = new Set<string>()
    for (const options of [
      {},
      { key: tenant.keys.developer },
      { cookie: tenant.people.admin.cookie },
      { cookie: tenant.people.owner.cookie },
    ]) {
      const { json, headers } = await create('shared', options)
      expect(headers.get('idempotent-replayed')).toBeNull()
      ids.add(json.id)
    }
    expect(ids.size).toBe(4)
  })

  test('on another route, or below another resource, is a call of its own', async () => {
    const first = await create('routes')
    const production = await create('routes', { path: `/v1/environments/${tenant.production.id}/keys` })
    expect([production.outcome, production.headers.get('idempotent-replayed')]).toEqual(['201', null])
    const plan = await create('routes', {
      path: `/v1/environments/${tenant.development.id}/plans`,
      body: { name: 'free' },
    })
    expect([plan.outcome, plan.headers.get('idempotent-replayed')]).toEqual(['201', null])
    const upper = `/v1/environments/${tenant.development.id.toUpperCase()}/keys`
    expect((await create('routes', { path: upper })).json.id).toBe(first.json.id)
  })

  test('runs where the first one failed', async () => {
    const path = `/v1/environments/${tenant.development.id}/model-aliases`
    const body = { alias: 'taken', strategy: 'priority', targets: [{ model: 'sandbox/echo' }] }
    const taken = await plane.call<{ id: string }>('POST', path, { key: tenant.keys.admin, body })
    expect((await create('failed', { path, body })).outcome).toBe('409 resource_conflict alias')
    await plane.call('DELETE', `/v1/model-aliases/${taken.json.id}`, { key: tenant.keys.admin })
    const second = await create('failed', { path, body })
    expect([second.outcome, second.headers.get('idempotent-replayed')]).toEqual(['201', null])
  })
})

describe('an Idempotency-Key', () => {
  test.each(['', 'x'.repeat(256), 'é', 'a\tb'])(
    'of a wrong length or with other characters than printable ASCII is refused: %.3s',
    async text => {
      expect((await create(text)).outcome).toBe('400 request_validation_failed Idempotency-Key')
    },
  )

  test.each(['x', 'x'.repeat(255), '"quoted", with spaces'])('is accepted: %.30s', async text => {
    expect((await create(text)).outcome).toBe('201')
    expect((await create(text)).headers.get('idempotent-replayed')).toBe('true')
  })

  test('that is sent twice is refused', async () => {
    const raw = await openRaw(`http://127.0.0.1:${plane.port}`)
    const body = JSON.stringify(BODY)
    raw.socket.write(
      `POST ${keysPath} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tenant.keys.admin}\r\n` +
        `Idempotency-Key: a\r\nIdempotency-Key: b\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    expect(await raw.until('"param":"Idempotency-Key"')).toContain('400 Bad Request')
    raw.socket.destroy()
  })

  test('is ignored by an action, which repeats itself', async () => {
    const { json } = await create('action')
    const headers = { 'idempotency-key': 'x'.repeat(300) }
    const revoked = await plane.call('POST', `/v1/keys/${json.id}/revoke`, {
      key: tenant.keys.admin,
      headers,
    })
    expect(revoked.outcome).toBe('200')
  })

  test('is taken by every POST that creates for a credential', () => {
    const creating = operations.filter(isCreating)
    expect(creating.length).toBeGreaterThan(18)
    // Its answer is kept with the audit entry's organization.
    expect(creating.filter(({ audit }) => audit === 'none')).toEqual([])
  })
})

describe('concurrent calls with one Idempotency-Key', () => {
  test('create once, and all get that response', async () => {
    const before = await countKeys()
    const answers = await Promise.all(Array.from({ length: 20 }, () => create('race')))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1)
    expect(await countKeys()).toBe(before + 1)
  })

  test('in two processes create once, also where the second fails by what the first created', async () => {
    const db = plane.database.db
    const other = await openControlPlane({ db, secretBox: plane.secretBox })
    const path = `/v1/environments/${tenant.development.id}/model-aliases`
    const call = (url: string, alias: string) =>
      fetch(url + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${tenant.keys.admin}`,
          'content-type': 'application/json',
          'idempotency-key': `of ${alias}`,
        },
        body: JSON.stringify({ alias, strategy: 'priority', targets: [{ model: 'sandbox/echo' }] }),
      })
    try {
      for (let n = 0; n < 10; n++) {
        const answers = await Promise.all([call(plane.url, `both-${n}`), call(other.url, `both-${n}`)])
        expect(answers.map(({ status }) => status)).toEqual([201, 201])
        const [one, two] = await Promise.all(answers.map(answer => answer.text()))
        expect(one).toBe(two)
      }
      const { json } = await plane.call<List<{ alias: string }>>('GET', `${path}?limit=100`, {
        key: tenant.keys.admin,
      })
      expect(json.data.filter(({ alias }) => alias.startsWith('both-'))).toHaveLength(10)
    } finally {
      await other.close()
    }
  })

  test('with different bodies create once and refuse the others', async () => {
    const bodies = ['a', 'b', 'c'].map(name => ({ ...BODY, name }))
    const answers = await Promise.all(bodies.map(body => create('mixed', { body })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  })
})

describe('what was created and its kept answer', () => {
  test('are committed together: neither is there where the answer cannot be kept', async () => {
    const { pool } = plane.database
    await pool.query(`create function no_answers() returns trigger language plpgsql as
      $$ begin raise exception 'no answers'; end $$`)
    await pool.query(
      'create trigger no_answers before insert on idempotent_creates for each row execute function no_answers()',
    )
    const before = await countKeys()
    try {
      expect((await create('together')).outcome).toBe('500 internal_error')
      expect(await countKeys()).toBe(before)
    } finally {
      await pool.query('drop trigger no_answers on idempotent_creates')
    }
    expect((await create('together')).headers.get('idempotent-replayed')).toBeNull()
  })

  test('hold neither the key nor the secret in plain text', async () => {
    const { json } = await create('a key that is not stored')
    const { rows } = await plane.database.pool.query('select * from idempotent_creates')
    const stored = rows.map(row => `${row.hash.toString('latin1')} ${row.answer_cipher.toString('latin1')}`)
    expect(stored.join(' ')).not.toContain(json.key)
    expect(stored.join(' ')).not.toContain('a key that is not stored')
  })

  test('are separated by a job once the answer has expired', async () => {
    await create('expires')
    const { db, pool } = plane.database
    plane.clock.advance(24 * 3_600_000)
    await removeExpiredCreates(db, new Date(plane.clock.now()))
    expect((await pool.query('select 1 from idempotent_creates')).rows).toEqual([])
  })
})

describe('authorization before a replay', () => {
  test('refuses a member that was demoted since with 403 insufficient_role', async () => {
    const own = await plane.insertTenant('demoted')
    const { cookie, user } = own.people.admin
    const path = `/v1/environments/${own.development.id}/custom-models`
    const priced = {
      model: 'custom/priced',
      capabilities: ['chat'],
      pricing: { input_usd_per_mtok: 1, output_usd_per_mtok: 1 },
    }
    const invitation = {
      path: `/v1/orgs/${own.organization.id}/members`,
      body: { email: 'a@b.example', role: 'viewer' },
    }
    expect((await create('priced', { cookie, path, body: priced })).outcome).toBe('201')
    expect((await create('invited', { cookie, ...invitation })).outcome).toBe('201')
    const demote = (role: string) =>
      plane.database.pool.query('update members set role = $1 where user_id = $2', [role, user.id])
    await demote('developer')
    // Of a developer only the price is refused, by the body.
    expect((await create('priced', { cookie, path, body: priced })).outcome).toBe('403 insufficient_role')
    expect((await create('invited', { cookie, ...invitation })).outcome).toBe('403 insufficient_role')
    await demote('viewer')
    expect((await create('priced', { cookie, path, body: priced })).outcome).toBe('403 insufficient_role')
  })

  test('answers 404 to a member that was removed since', async () => {
    const own = await plane.insertTenant('removed')
    const { cookie, user } = own.people.developer
    const path = `/v1/environments/${own.development.id}/keys`
    expect((await create('mine', { cookie, path })).outcome).toBe('201')
    await plane.database.pool.query('delete from members where user_id = $1', [user.id])
    expect((await create('mine', { cookie, path })).outcome).toBe('404 resource_not_found')
  })

  test('answers 404 for an organization that its creator has left', async () => {
    const { cookie, user } = await plane.insertPerson()
    const organization = { path: '/v1/orgs', body: { name: 'Left' } }
    const first = await create('org', { cookie, ...organization })
    expect(first.outcome).toBe('201')
    expect((await create('org', { cookie, ...organization })).text).toBe(first.text)
    await plane.database.pool.query('delete from members where user_id = $1', [user.id])
    expect((await create('org', { cookie, ...organization })).outcome).toBe('404 resource_not_found')
  })

  test('refuses a revoked management key', async () => {
    const own = await plane.insertTenant('revoked')
    const path = `/v1/environments/${own.development.id}/keys`
    const options = { key: own.keys.developer, path }
    expect((await create('mine', options)).outcome).toBe('201')
    await plane.database.pool.query('update management_keys set revoked_at = now() where org_id = $1', [
      own.organization.id,
    ])
    expect((await create('mine', options)).outcome).toBe('401 key_revoked')
  })
})
