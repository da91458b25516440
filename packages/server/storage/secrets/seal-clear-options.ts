import { PROVIDERS } from '@rideau/llm/providers/index'
import { sql } from 'kysely'
import type { SecretBox } from '../../core/access/secret-box.ts'
import type { Db } from '../pool.ts'
import { listSecretOptions, openOptions, sealOptions } from './secret-options.ts'

const BATCH_ROWS = 100

/**
 * Encrypts secret options of provider credentials that an earlier version stored in clear: all of them, by batches in a
 * transaction each. Returns how many credentials it changed. Concurrent calls wait for each other's rows and then skip
 * them. Throws SecretBoxError, and keeps the batch as it is, if a secret cannot be decrypted.
 */
export async function sealClearOptions(db: Db, secretBox: SecretBox): Promise<number> {
  let count = 0
  for (const { id: provider } of PROVIDERS) {
    const names = listSecretOptions(provider)
    if (names.length === 0) continue
    let sealed: number
    do {
      sealed = await sealBatch(db, secretBox, provider, names)
      count += sealed
    } while (sealed === BATCH_ROWS)
  }
  return count
}

async function sealBatch(
  db: Db,
  secretBox: SecretBox,
  provider: string,
  names: readonly string[],
): Promise<number> {
  return await db.transaction().execute(async tx => {
    const rows = await tx
      .selectFrom('provider_credentials')
      .select(['id', 'provider', 'options', 'options_cipher'])
      .where('provider', '=', provider)
      .where(sql<boolean>`options ?| ${names}::text[]`)
      .orderBy('id')
      .limit(BATCH_ROWS)
      .forUpdate()
      .execute()
    for (const row of rows) {
      const columns = sealOptions(secretBox, row, openOptions(secretBox, row))
      await tx.updateTable('provider_credentials').set(columns).where('id', '=', row.id).execute()
    }
    return rows.length
  })
}
