import { afterEach, beforeEach, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../../testing/harness/database.ts'
import { countDeletedRows, readDeletedRows } from '../../testing/harness/statement-rows.ts'
import { addTree, CREATED, newId } from '../../testing/harness/storage-rows.ts'
import { removeDeletedSecrets } from './remove-deleted-secrets.ts'

const COUNT = 2_500

let database: FreshDatabase
beforeEach(async () => {
  database = await freshDatabase()
})
afterEach(() => database.drop())

/** Makes a deleted organization with so many provider credentials, deliveries of one webhook and kept answers. */
async function addDeleted(count: number): Promise<void> {
  const { organization, project, environment } = await addTree(database.db)
  const webhookId = newId()
  const insert = (text: string, ...values: unknown[]) => database.pool.query(text, values)
  await insert(
    `insert into provider_credentials (id, org_id, project_id, environment_id, provider, name, secret_cipher, key_fingerprint, created_at, updated_at)
      select gen_random_uuid(), $1, $2, $3, 'openai', 'n', '', '', $4, $4 from generate_series(1, $5)`,
    organization.id,
    project.id,
    environment.id,
    CREATED,
    count,
  )
  await insert(
    `insert into webhooks (id, org_id, url, events, secret_cipher, created_at, updated_at) values ($1, $2, 'https://hooks.example', '{}', '', $3, $3)`,
    webhookId,
    organization.id,
    CREATED,
  )
  await insert(
    `insert into webhook_deliveries (id, org_id, webhook_id, event, payload, created_at)
      select gen_random_uuid(), $1, $2, 'e', '{}', $3 from generate_series(1, $4)`,
    organization.id,
    webhookId,
    CREATED,
    count,
  )
  await insert('update organizations set deleted_at = $2 where id = $1', organization.id, CREATED)
}

async function count(table: string): Promise<number> {
  const { rows } = await database.pool.query(`select count(*)::integer as count from ${table}`)
  return rows[0].count
}

test('removes the secrets of an organization with very many in batches', async () => {
  await addDeleted(COUNT)
  await countDeletedRows(database.pool, ['provider_credentials', 'webhook_deliveries'])
  await removeDeletedSecrets(database.db)
  expect([await count('provider_credentials'), await count('webhooks')]).toEqual([0, 0])
  expect(await readDeletedRows(database.pool)).toEqual({ most: 1_000, all: 2 * COUNT })
})

test('removes nothing more once it is aborted', async () => {
  await addDeleted(COUNT)
  let reads = 0
  const signal = {
    get aborted(): boolean {
      return reads++ > 0
    },
  } as AbortSignal
  await removeDeletedSecrets(database.db, signal)
  expect(await count('provider_credentials')).toBe(COUNT - 1_000)
  expect([await count('webhook_deliveries'), await count('webhooks')]).toEqual([COUNT, 1])
})

test('removes webhooks though credentials cannot be removed, and throws', async () => {
  await addDeleted(1)
  await database.pool.query('alter table provider_credentials rename to elsewhere')
  await expect(removeDeletedSecrets(database.db)).rejects.toThrow('"provider_credentials" does not exist')
  expect(await count('webhooks')).toBe(0)
})
