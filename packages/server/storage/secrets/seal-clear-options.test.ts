import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openSecretBox } from '../../core/access/secret-box.ts'
import { systemClock } from '../../core/clock.ts'
import { openIds } from '../../core/ids.ts'
import { systemRandom } from '../../core/random.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { type SeededEnvironment, seedEnvironment } from '../../testing/harness/seed-environment.ts'
import { sealClearOptions } from './seal-clear-options.ts'
import { openOptions, sealOptions } from './secret-options.ts'

const newId = openIds(systemClock, systemRandom)
const box = openSecretBox(Buffer.alloc(32, 1), systemRandom)

describe.each(listTestServers())('encrypting secret options stored in clear on $label', server => {
  let database: FreshDatabase
  let seeded: SeededEnvironment
  beforeEach(async () => {
    database = await freshDatabase(server)
    seeded = await seedEnvironment(database.pool)
  })
  afterEach(() => database.drop())

  /** Inserts a credential as an earlier version did. */
  async function insertClear(options: object, provider = 'bedrock'): Promise<string> {
    const id = newId()
    await database.pool.query(
      `insert into provider_credentials (id, org_id, project_id, environment_id, provider, name, secret_cipher,
          key_fingerprint, options, created_at, updated_at)
        values ($1, $2, $3, $4, $5, 'c', $6, 'f', $7, now(), now())`,
      [
        id,
        seeded.orgId,
        seeded.projectId,
        seeded.environmentId,
        provider,
        box.seal('k', `provider_credentials:${id}`),
        JSON.stringify(options),
      ],
    )
    return id
  }

  const read = async (id: string) => {
    const { rows } = await database.pool.query(
      'select id, options, options_cipher, updated_at from provider_credentials where id = $1',
      [id],
    )
    return rows[0]
  }

  test('every row of several batches keeps its options, and none has a secret in clear', async () => {
    const ids = []
    for (let n = 0; n < 130; n++) ids.push(await insertClear({ region: 'eu-1', session_token: `t${n}` }))
    const without = await insertClear({ region: 'eu-1' })
    const another = await insertClear({ session_token: 'no secret of this provider' }, 'ollama')
    const before = await read(ids[0] as string)
    expect(await sealClearOptions(database.db, box)).toBe(130)
    for (const [n, id] of ids.entries()) {
      const row = await read(id)
      expect(row.options).toEqual({ region: 'eu-1' })
      expect(openOptions(box, row)).toEqual({ region: 'eu-1', session_token: `t${n}` })
    }
    expect((await read(ids[0] as string)).updated_at).toEqual(before.updated_at)
    for (const id of [without, another]) expect((await read(id)).options_cipher).toBeNull()
    expect(await sealClearOptions(database.db, box)).toBe(0)
  })

  test('concurrent calls encrypt each row once', async () => {
    for (let n = 0; n < 130; n++) await insertClear({ region: 'eu-1', session_token: `t${n}` })
    const counts = await Promise.all([1, 2, 3].map(() => sealClearOptions(database.db, box)))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(130)
  })

  test('an option in clear, which a process of an earlier version wrote later, replaces the encrypted one', async () => {
    const id = await insertClear({ region: 'eu-1', session_token: 'new' })
    const { options_cipher } = sealOptions(box, { id, provider: 'bedrock' }, { session_token: 'old' })
    await database.pool.query('update provider_credentials set options_cipher = $1', [options_cipher])
    expect(openOptions(box, await read(id)).session_token).toBe('new')
    expect(await sealClearOptions(database.db, box)).toBe(1)
    expect(openOptions(box, await read(id))).toEqual({ region: 'eu-1', session_token: 'new' })
  })
})
