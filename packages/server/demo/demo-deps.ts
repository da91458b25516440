import type { Pool } from 'pg'
import type { SecretBox } from '../core/access/secret-box.ts'
import type { Clock } from '../core/clock.ts'
import type { Random } from '../core/random.ts'
import type { Db } from '../storage/pool.ts'

export interface DemoDeps {
  readonly db: Db
  readonly pool: Pool
  readonly secretBox: SecretBox
  readonly clock: Clock
  /** The source of secrets: keys differ at every run. */
  readonly random: Random
  readonly newId: () => string
}
