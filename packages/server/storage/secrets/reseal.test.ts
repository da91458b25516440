import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openSecretBox, type SecretBox } from '../../core/access/secret-box.ts'
import { systemClock } from '../../core/clock.ts'
import { openIds } from '../../core/ids.ts'
import { systemRandom } from '../../core/random.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { type SeededEnvironment, seedEnvironment } from '../../testing/harness/seed-environment.ts'
import { findSigner, updateSigningKeys } from '../keys/signing-keys.ts'
import { isAllResealed, reinstateMasterKey, resealBatch, retireMasterKeys } from './reseal.ts'
import { SEALED_COLUMNS, type SealedColumn } from './sealed-columns.ts'

const newId = openIds(systemClock, systemRandom)
const [oldKey, newKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
const before = openSecretBox(oldKey, systemRandom)
const during = openSecretBox(newKey, systemRandom, [oldKey])
const after = openSecretBox(newKey, systemRandom)
const NOW = new Date()

describe.each(listTestServers())('re-encrypting secrets on $label', server => {
  let database: FreshDatabase
  let seeded: SeededEnvironment
  beforeEach(async () => {
    database = await freshDatabase(server)
    seeded = await seedEnvironment(database.pool)
  })
  afterEach(() => database.drop())

  const scope = () => [seeded.orgId, seeded.projectId, seeded.environmentId]

  /** Inserts rows with a secret each. */
  async function insertSecrets(box: SecretBox, count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      const [credential, key, webhook] = [newId(), newId(), newId()]
      await database.pool.query(
        `insert into provider_credentials (id, org_id, project_id, environment_id, provider, name, secret_cipher,
            key_fingerprint, options_cipher, created_at, updated_at)
          values ($1, $2, $3, $4, 'openai', 'c', $5, 'f', $6, now(), now())`,
        [
          credential,
          ...scope(),
          box.seal(`secret of ${credential}`, `provider_credentials:${credential}`),
          box.seal(`secret of ${credential}`, `provider_credentials.options:${credential}`),
        ],
      )
      await database.pool.query(
        `insert into keys (id, original_id, org_id, project_id, environment_id, kind, name, hash, prefix_display, publishable_cipher,
            scopes, created_at, updated_at) values ($1, $1, $2, $3, $4, 'publishable', 'k', $5, 'p', $6, '{}', now(), now())`,
        [key, ...scope(), Buffer.from(key), box.seal(`secret of ${key}`, `keys:${key}`)],
      )
      await database.pool.query(
        `insert into webhooks (id, org_id, url, events, secret_cipher, created_at, updated_at)
          values ($1, $2, 'u', '{}', $3, now(), now())`,
        [webhook, seeded.orgId, box.seal(`secret of ${webhook}`, `webhooks:${webhook}`)],
      )
    }
  }

  async function insertDeviceSecret(box: SecretBox): Promise<void> {
    const { projectId, orgId } = seeded
    await database.pool.query(
      `insert into device_auth (project_id, org_id, ios_team_id, device_check_key_id, device_check_cipher, created_at,
          updated_at) values ($1, $2, 't', 'k', $3, now(), now())`,
      [projectId, orgId, box.seal(`secret of ${projectId}`, `device_auth:${projectId}`)],
    )
  }

  async function resealAll(): Promise<void> {
    for (const column of SEALED_COLUMNS) {
      let lastId: string | undefined
      do lastId = (await resealBatch(database.db, column, during, lastId)).lastId
      while (lastId !== undefined)
    }
  }

  const openAll = async (box: SecretBox): Promise<number> => {
    let count = 0
    for (const { table, column, id, context = table } of SEALED_COLUMNS) {
      const { rows } = await database.pool.query(
        `select ${id} as id, ${column} as sealed from ${table} where ${column} is not null`,
      )
      for (const row of rows) {
        expect(box.open(row.sealed, `${context}:${row.id}`)).toBe(`secret of ${row.id}`)
        count++
      }
    }
    return count
  }

  test('every column named *cipher* is in SEALED_COLUMNS and has a trigger that rejects retired keys', async () => {
    const { rows } = await database.pool.query<{ table: string; column: string; guards: string | null }>(
      `select c.table_name as table, c.column_name as column, (select string_agg(t.action_statement, ' ')
          from information_schema.triggers t
          where t.event_object_table = c.table_name and t.trigger_name like 'refuse_retired%') as guards
        from information_schema.columns c
        where c.table_schema = current_schema() and c.data_type = 'bytea' and c.column_name like '%cipher%'`,
    )
    const found = rows.map(({ table, column }) => `${table}.${column}`)
    expect(found.sort()).toEqual(SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`).sort())
    for (const { column, guards } of rows) expect(guards).toContain(`'${column}'`)
  })

  test('after all batches the new key alone decrypts every secret, and fingerprints are updated', async () => {
    await insertSecrets(before, 120)
    await insertDeviceSecret(before)
    await insertSecrets(after, 3)
    await resealAll()
    expect(await openAll(after)).toBe(493)
    const { rows } = await database.pool.query(
      'select id, key_fingerprint from provider_credentials limit 130',
    )
    const known = rows.filter(row => row.key_fingerprint !== 'f')
    expect(known).toHaveLength(120)
    for (const row of known) expect(row.key_fingerprint).toBe(after.fingerprint(`secret of ${row.id}`))
    expect(await isAllResealed(database.db, during)).toBe(true)
  })

  test('keeps the signing key of client tokens', async () => {
    await updateSigningKeys(database.db, { secretBox: before, newId }, NOW.getTime())
    const signer = await findSigner(database.db, before, NOW.getTime())
    await resealAll()
    expect(await isAllResealed(database.db, during)).toBe(true)
    const again = await findSigner(database.db, after, NOW.getTime())
    expect(again?.privateKey.export({ format: 'jwk' })).toEqual(signer?.privateKey.export({ format: 'jwk' }))
  })

  test('leaves every secret readable after each batch, so that a kill between two loses nothing', async () => {
    await insertSecrets(before, 120)
    const [column] = SEALED_COLUMNS as [SealedColumn]
    expect((await resealBatch(database.db, column, during, undefined)).count).toBe(100)
    expect(await openAll(during)).toBe(480)
    expect(await isAllResealed(database.db, during)).toBe(false)
    await resealAll()
    expect(await openAll(after)).toBe(480)
  })

  test('skips a locked row, and is not over until that row is done', async () => {
    await insertSecrets(before, 1)
    const locker = await database.pool.connect()
    await locker.query('begin; select from provider_credentials for update')
    const [column] = SEALED_COLUMNS as [SealedColumn]
    expect((await resealBatch(database.db, column, during, undefined)).count).toBe(0)
    expect(await isAllResealed(database.db, during)).toBe(false)
    await locker.query('rollback')
    locker.release()
    await resealAll()
    expect(await isAllResealed(database.db, during)).toBe(true)
  })

  test('reads a large table in parts, from its first row to its last', async () => {
    await database.pool.query(
      `insert into idempotent_answers (id, hash, org_id, environment_id, body_hash, owner, expires_at, answer_cipher)
        select gen_random_uuid(), int4send(n), $1, $2, '', $1, now(), $3 from generate_series(1, 10000) n`,
      [seeded.orgId, seeded.environmentId, after.seal('x', 'x')],
    )
    const { rows } = await database.pool.query(
      '(select id from idempotent_answers order by id limit 1) union all (select id from idempotent_answers order by id desc limit 1)',
    )
    for (const { id } of rows) {
      const old = before.seal(`secret of ${id}`, `idempotent_answers:${id}`)
      await database.pool.query('update idempotent_answers set answer_cipher = $2 where id = $1', [id, old])
      expect(await isAllResealed(database.db, during)).toBe(false)
      await resealAll()
      expect(await isAllResealed(database.db, during)).toBe(true)
      const found = await database.pool.query(
        'select answer_cipher as sealed from idempotent_answers where id = $1',
        [id],
      )
      expect(after.open(found.rows[0].sealed, `idempotent_answers:${id}`)).toBe(`secret of ${id}`)
    }
  })

  test('waits for a writer that passed the guard before, and lets others write to other tables meanwhile', async () => {
    const writer = await database.pool.connect()
    await writer.query('begin')
    const id = newId()
    await writer.query(
      `insert into webhooks (id, org_id, url, events, secret_cipher, created_at, updated_at) values ($1, $2, 'u', '{}', $3, now(), now())`,
      [id, seeded.orgId, before.seal(`secret of ${id}`, `webhooks:${id}`)],
    )
    const retire = async (): Promise<void> => {
      while (!(await retireMasterKeys(database.db, [before.keyId], NOW))) {}
    }
    const retiring = retire()
    await expect
      .poll(
        async () => {
          const { rows } = await database.pool.query(
            `select from pg_locks where locktype = 'relation' and relation = 'webhooks'::regclass and not granted`,
          )
          return rows.length
        },
        { timeout: 30_000, interval: 5 },
      )
      .toBe(1)
    await database.pool.query(
      `set statement_timeout = '1s'; update keys set name = name; set statement_timeout = 0`,
    )
    await writer.query('commit')
    writer.release()
    await retiring
    expect(await isAllResealed(database.db, during)).toBe(false)
    await resealAll()
    expect(await isAllResealed(database.db, during)).toBe(true)
  })

  test('gives a writer up that does not end, without a longer wait for those behind it', async () => {
    const writer = await database.pool.connect()
    await writer.query('begin; update signing_keys set created_at = created_at')
    expect(await retireMasterKeys(database.db, [before.keyId], NOW)).toBe(false)
    await expect(insertSecrets(before, 1)).rejects.toThrow('rotated out')
    await writer.query('rollback')
    writer.release()
    expect(await retireMasterKeys(database.db, [before.keyId], NOW)).toBe(true)
  })

  test('rejects, and changes nothing, if no key of the box decrypts a secret', async () => {
    await insertSecrets(openSecretBox(Buffer.alloc(32, 3), systemRandom), 1)
    await expect(resealAll()).rejects.toThrow('another master key')
    expect(await isAllResealed(database.db, during)).toBe(false)
  })

  test('the database rejects secrets under a retired key until the key is reinstated', async () => {
    expect(await retireMasterKeys(database.db, [before.keyId], NOW)).toBe(true)
    await expect(insertSecrets(before, 1)).rejects.toThrow('rotated out')
    await expect(insertDeviceSecret(before)).rejects.toThrow('rotated out')
    await insertSecrets(after, 1)
    const stale = before.seal('x', 'x')
    for (const { table, column } of SEALED_COLUMNS.slice(0, 4)) {
      await expect(database.pool.query(`update ${table} set ${column} = $1`, [stale])).rejects.toThrow(
        'rotated out',
      )
    }
    await reinstateMasterKey(database.db, before.keyId)
    await insertSecrets(before, 1)
  })
})
