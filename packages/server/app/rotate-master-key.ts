import type { Logger } from 'pino'
import { openSecretBox, type SecretBox, toKeyId } from '../core/access/secret-box.ts'
import { systemClock } from '../core/clock.ts'
import { systemRandom } from '../core/random.ts'
import type { Db } from '../storage/pool.ts'
import { beginMasterKeyRotation, endMasterKeyRotation } from '../storage/secrets/master-key.ts'
import {
  isAllResealed,
  reinstateMasterKey,
  resealBatch,
  retireMasterKeys,
} from '../storage/secrets/reseal.ts'
import { SEALED_COLUMNS } from '../storage/secrets/sealed-columns.ts'
import { openExistingStorage } from './open-existing-storage.ts'

export interface RotationOptions {
  readonly databaseUrl: string | undefined
  readonly dataDir: string
  /** The new key; undefined: the key in the data folder is replaced by a random one. */
  readonly masterKey: Buffer | undefined
  /** Keys that stored secrets may still be sealed with. */
  readonly formerMasterKeys: readonly Buffer[]
  readonly log: Pick<Logger, 'info'>
}

/** Rows that others have locked are retried this many times, with this pause. */
const ROUNDS = 100
const ROUND_MS = 100

/**
 * Changes the master key while the program runs: seals every stored secret with the new key, then retires the previous keys.
 * It can be killed at any moment and run again. docs/operations.md says which process needs which key at which step. Throws
 * ConfigError for a data folder without a database, and an error if rows stay locked.
 */
export async function rotateMasterKey(options: RotationOptions): Promise<void> {
  const { dataDir, log } = options
  const storage = await openExistingStorage(options)
  try {
    const keys =
      options.masterKey === undefined
        ? fromFiles(dataDir)
        : { current: options.masterKey, previous: options.formerMasterKeys }
    const box = openSecretBox(keys.current, systemRandom, keys.previous)
    await reinstateMasterKey(storage.db, box.keyId)
    await resealAll(storage.db, box, keys.previous.map(toKeyId), log)
    if (options.masterKey === undefined) endMasterKeyRotation(dataDir)
    log.info(`everything is sealed with the master key ${box.keyId}; the previous key is no longer needed`)
  } finally {
    await storage.close()
  }
}

function fromFiles(dataDir: string): { current: Buffer; previous: readonly Buffer[] } {
  const { current, previous } = beginMasterKeyRotation(dataDir, systemRandom)
  return { current, previous: [previous] }
}

async function resealAll(
  db: Db,
  box: SecretBox,
  previous: readonly string[],
  log: RotationOptions['log'],
): Promise<void> {
  const retired = previous.filter(keyId => keyId !== box.keyId)
  for (let round = 1; ; round++) {
    for (const column of SEALED_COLUMNS) {
      let lastId: string | undefined
      do {
        const batch = await resealBatch(db, column, box, lastId)
        lastId = batch.lastId
        if (batch.count > 0) log.info(`sealed ${batch.count} of ${column.table} anew`)
      } while (lastId !== undefined)
    }
    // In this order: once the keys are retired, nothing that is sealed with them can follow the check.
    const isRetired = await retireMasterKeys(db, retired, new Date(systemClock.now()))
    if (isRetired && (await isAllResealed(db, box))) return
    if (round === ROUNDS)
      throw new Error(`rows were still locked after ${ROUNDS} rounds: run this command again`)
    await new Promise(resolve => setTimeout(resolve, ROUND_MS))
  }
}
