import { afterEach, expect, test } from 'vitest'
import { emptyDatabase, type FreshDatabase } from '../../testing/harness/database.ts'
import { newId } from '../../testing/harness/storage-rows.ts'
import { migrateDatabase } from '../migrate.ts'
import { MIGRATIONS } from './index.ts'

let database: FreshDatabase | undefined
afterEach(() => database?.drop())

test('rules of keys that were rolled before bind the newest key, and count under the first', async () => {
  database = await emptyDatabase()
  const { connection, pool } = database
  const before = MIGRATIONS.filter(({ name }) => name < '0020')
  await migrateDatabase(connection, () => {}, before)
  const [orgId, projectId, environmentId] = [newId(), newId(), newId()]
  await pool.query(
    `insert into organizations (id, name, slug, created_at, updated_at) values ($1, 'Acme', 'acme', now(), now())`,
    [orgId],
  )
  await pool.query(
    `insert into projects (id, org_id, name, slug, created_at, updated_at) values ($2, $1, 'p', 'p', now(), now())`,
    [orgId, projectId],
  )
  await pool.query(
    `insert into environments (id, org_id, project_id, name, is_default, log_capture, created_at, updated_at)
      values ($3, $1, $2, 'development', true, 'full', now(), now())`,
    [orgId, projectId, environmentId],
  )
  const keys = ['third', 'second', 'first', 'other'].map(name => ({ name, id: newId() }))
  const idOf = (name: string) => keys.find(key => key.name === name)?.id
  for (const { name, id } of keys) {
    const rolledTo = name === 'first' ? idOf('second') : name === 'second' ? idOf('third') : null
    await pool.query(
      `insert into keys (id, org_id, project_id, environment_id, kind, name, hash, prefix_display, scopes, rolled_to,
          created_at, updated_at)
        values ($1, $2, $3, $4, 'secret', $5, $6, 'rd', '{}', $7, now(), now())`,
      [id, orgId, projectId, environmentId, name, Buffer.from(name), rolledTo],
    )
  }
  const rules = [
    ['key', idOf('first')],
    ['key', idOf('second')],
    ['key', idOf('third')],
    ['key', idOf('other')],
    ['environment', environmentId],
  ] as const
  for (const [scope, ref] of rules) {
    await pool.query(
      `insert into limits (id, org_id, scope, scope_ref, metric, "limit", window_seconds, created_at, updated_at)
        values ($1, $2, $3, $4, 'requests', 1, 60, now(), now())`,
      [newId(), orgId, scope, ref],
    )
    await pool.query(
      `insert into quotas (id, org_id, project_id, environment_id, scope, scope_ref, metric, "window", "limit",
          created_at, updated_at)
        values ($1, $2, $3, $4, $5, $6, 'requests', 'day', 1, now(), now())`,
      [newId(), orgId, projectId, environmentId, scope, ref],
    )
    await pool.query(
      `insert into budgets (id, org_id, scope, scope_ref, limit_nano_usd, "window", created_at, updated_at)
        values ($1, $2, $3, $4, 1, 'day', now(), now())`,
      [newId(), orgId, scope, ref],
    )
  }
  await migrateDatabase(connection, () => {})
  const originals = await pool.query<{ name: string; original_id: string }>(
    'select name, original_id from keys order by name',
  )
  expect(originals.rows).toEqual([
    { name: 'first', original_id: idOf('first') },
    { name: 'other', original_id: idOf('other') },
    { name: 'second', original_id: idOf('first') },
    { name: 'third', original_id: idOf('first') },
  ])
  for (const table of ['limits', 'quotas', 'budgets']) {
    const { rows } = await pool.query<{ scope_ref: string; counted_ref: string }>(
      `select scope_ref, counted_ref from ${table} order by id`,
    )
    const third = { scope_ref: idOf('third'), counted_ref: idOf('first') }
    expect(rows).toEqual([
      third,
      third,
      third,
      { scope_ref: idOf('other'), counted_ref: idOf('other') },
      { scope_ref: environmentId, counted_ref: environmentId },
    ])
  }
})
