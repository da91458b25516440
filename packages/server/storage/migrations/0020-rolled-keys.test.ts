import { afterEach, expect, test } from 'vitest'
import { emptyDatabase, type FreshDatabase } from '../../testing/harness/database.ts'
import { newId } from '../../testing/harness/storage-rows.ts'
import { migrateDatabase } from '../migrate.ts'
import { MIGRATIONS } from './index.ts'

let database: FreshDatabase | undefined
afterEach(() => database?.drop())

test('keys that were rolled before stay apart, with their rules', async () => {
  database = await emptyDatabase()
  const { connection, pool } = database
  const before = MIGRATIONS.filter(({ name }) => name < '0020')
  await migrateDatabase(connection, () => {}, before)
  const [orgId, projectId, environmentId, oldId, newestId] = [newId(), newId(), newId(), newId(), newId()]
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
  for (const [id, rolledTo] of [
    [newestId, null],
    [oldId, newestId],
  ]) {
    await pool.query(
      `insert into keys (id, org_id, project_id, environment_id, kind, name, hash, prefix_display, scopes, rolled_to,
          created_at, updated_at)
        values ($1, $2, $3, $4, 'secret', 'k', $5, 'rd', '{}', $6, now(), now())`,
      [id, orgId, projectId, environmentId, Buffer.from(String(id)), rolledTo],
    )
  }
  const refs = { key: oldId, environment: environmentId }
  for (const [scope, ref] of Object.entries(refs)) {
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
  const keys = await pool.query('select id, original_id from keys order by id')
  expect(keys.rows).toEqual([oldId, newestId].sort().map(id => ({ id, original_id: id })))
  for (const table of ['limits', 'quotas', 'budgets']) {
    const { rows } = await pool.query(`select scope, scope_ref, counted_ref from ${table} order by id`)
    const expected = Object.entries(refs).map(([scope, ref]) => ({ scope, scope_ref: ref, counted_ref: ref }))
    expect(rows).toEqual(expected)
    // Whoever writes it, it is what the scope says: null would bind everything.
    await pool.query(`update ${table} set counted_ref = null`)
    const again = await pool.query(`select scope, scope_ref, counted_ref from ${table} order by id`)
    expect(again.rows).toEqual(expected)
  }
})
