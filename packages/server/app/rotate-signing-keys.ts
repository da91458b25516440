import type { Logger } from 'pino'
import { UnknownMasterKeyError } from '../core/access/secret-box.ts'
import { systemClock } from '../core/clock.ts'
import { openIds } from '../core/ids.ts'
import { systemRandom } from '../core/random.ts'
import { replaceSigningKeys } from '../storage/keys/signing-keys.ts'
import { openExistingStorage } from './open-existing-storage.ts'
import { openBox } from './parts/open-parts.ts'
import { ConfigError } from './settings/config-error.ts'
import type { Config } from './settings/settings.ts'

export interface ReplacementOptions
  extends Pick<Config, 'databaseUrl' | 'dataDir' | 'masterKey' | 'formerMasterKeys'> {
  readonly log: Pick<Logger, 'info'>
}

/**
 * Replaces the keys that sign client tokens while the program runs, for the case that they were stolen: no gateway accepts a token that
 * was made before. Throws ConfigError for a data folder without a database, before anything is made in it, and for a database
 * without such keys and another master key, of which no key is changed.
 */
export async function rotateSigningKeys(options: ReplacementOptions): Promise<void> {
  const { databaseUrl, dataDir, log } = options
  const storage = await openExistingStorage(options)
  try {
    const deps = { secretBox: openBox(options), newId: openIds(systemClock, systemRandom) }
    const { removed } = await replaceSigningKeys(storage.db, deps, systemClock.now()).catch(cause => {
      if (!(cause instanceof UnknownMasterKeyError)) throw cause
      throw new ConfigError(`RIDEAU_MASTER_KEY: must be that of the running program: ${cause.message}`, {
        cause,
      })
    })
    if (removed === 0) {
      const setting = databaseUrl === undefined ? `RIDEAU_DATA_DIR: ${dataDir}` : 'DATABASE_URL'
      throw new ConfigError(
        `${setting}: the database had no signing keys: is it that of the running program?`,
      )
    }
    log.info(`replaced ${removed} keys: client tokens that were made before are not accepted any more`)
  } finally {
    await storage.close()
  }
}
