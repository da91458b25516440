import type { Logger } from 'pino'
import { systemClock } from '../core/clock.ts'
import { systemRandom } from '../core/random.ts'
import { openSecretBox, type SecretBox, toKeyId } from '../core/secret-box.ts'
import { beginMasterKeyRotation, endMasterKeyRotation } from '../storage/master-key.ts'
import { openStorage } from '../storage/open-storage.ts'
import type { Db } from '../storage/pool.ts'
import { reinstateMasterKey, resealBatch, retireMasterKeys } from '../storage/reseal.ts'
import { SEALED_COLUMNS } from '../storage/sealed-columns.ts'

export interface RotationOptions {
  readonly databaseUrl: string | undefined
  readonly dataDir: string
  /** The new key; undefined: the one in the data folder is replaced by a fresh one. */
  readonly masterKey: Buffer | undefined
  /** What may still be sealed with. */
  readonly formerMasterKeys: readonly Buffer[]
  readonly log: Pick<Logger, 'info'>
}

/** Rows that others hold are come back to so often, this long apart. */
const ROUNDS = 100
const ROUND_MS = 100

/**
 * Changes the master key while the program runs: seals everything that is stored anew, then ends the former key. May
 * be killed at any moment and run again. See docs/operations.md for who must know which key when.
 */
export async function rotateMasterKey(options: RotationOptions): Promise<void> {
  const { databaseUrl, dataDir, log } = options
  const storage = await openStorage({ databaseUrl, dataDir, log: line => log.info(line) })
  try {
    const keys =
      options.masterKey === undefined
        ? fromFiles(dataDir)
        : { current: options.masterKey, former: options.formerMasterKeys }
    const box = openSecretBox(keys.current, systemRandom, keys.former)
    await reinstateMasterKey(storage.db, box.keyId)
    await resealAll(storage.db, box, keys.former.map(toKeyId), log)
    if (options.masterKey === undefined) endMasterKeyRotation(dataDir)
    log.info(`everything is sealed under the master key ${box.keyId}; the former one is of no more use here`)
  } finally {
    await storage.close()
  }
}

function fromFiles(dataDir: string): { current: Buffer; former: readonly Buffer[] } {
  const { current, previous } = beginMasterKeyRotation(dataDir, systemRandom)
  return { current, former: [previous] }
}

async function resealAll(
  db: Db,
  box: SecretBox,
  former: readonly string[],
  log: RotationOptions['log'],
): Promise<void> {
  const ended = former.filter(keyId => keyId !== box.keyId)
  for (let round = 1; ; round++) {
    for (const column of SEALED_COLUMNS) {
      let lastId: string | undefined
      do {
        const batch = await resealBatch(db, column, box, lastId)
        lastId = batch.lastId
        if (batch.count > 0) log.info(`sealed ${batch.count} of ${column.table} anew`)
      } while (lastId !== undefined)
    }
    if (await retireMasterKeys(db, box, ended, new Date(systemClock.now()))) return
    if (round === ROUNDS) throw new Error('rows stay locked by others: run this again')
    await new Promise(resolve => setTimeout(resolve, ROUND_MS))
  }
}
