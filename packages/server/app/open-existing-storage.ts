import type { Logger } from 'pino'
import { mayHaveCluster } from '../storage/embedded/start.ts'
import { openStorage, type Storage } from '../storage/open-storage.ts'
import { ConfigError } from './settings/config-error.ts'
import type { Config } from './settings/settings.ts'

interface ExistingStorageOptions extends Pick<Config, 'databaseUrl' | 'dataDir'> {
  readonly log: Pick<Logger, 'info'>
}

/**
 * Connects a command to the database of the running program. Throws ConfigError for a data folder without a database, before
 * anything is made in it.
 */
export async function openExistingStorage(options: ExistingStorageOptions): Promise<Storage> {
  const { databaseUrl, dataDir, log } = options
  if (databaseUrl === undefined && !mayHaveCluster(dataDir)) {
    throw new ConfigError(`RIDEAU_DATA_DIR: ${dataDir} holds no database: is it that of the running program?`)
  }
  return await openStorage({ databaseUrl, dataDir, log: line => log.info(line) })
}
