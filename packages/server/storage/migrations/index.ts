import { sql as tenancy } from './0001-tenancy.ts'
import { sql as usage } from './0002-usage.ts'
import { sql as people } from './0003-people.ts'
import { sql as models } from './0004-models.ts'
import { sql as policies } from './0005-policies.ts'
import { sql as observe } from './0006-observe.ts'
import { sql as rowSecurity } from './0007-row-security.ts'
import { sql as sealed } from './0008-sealed.ts'
import { sql as signingKeys } from './0009-signing-keys.ts'
import { sql as alerts } from './0010-alerts.ts'
import { sql as logHold } from './0011-log-hold.ts'

/** One step of the schema. Once released it never changes; a correction is a step of its own. */
export interface NumberedMigration {
  /** Sorts in the order of application. */
  readonly name: string
  readonly sql: string
}

export const MIGRATIONS: readonly NumberedMigration[] = [
  { name: '0001-tenancy', sql: tenancy },
  { name: '0002-usage', sql: usage },
  { name: '0003-people', sql: people },
  { name: '0004-models', sql: models },
  { name: '0005-policies', sql: policies },
  { name: '0006-observe', sql: observe },
  { name: '0007-row-security', sql: rowSecurity },
  { name: '0008-sealed', sql: sealed },
  { name: '0009-signing-keys', sql: signingKeys },
  { name: '0010-alerts', sql: alerts },
  { name: '0011-log-hold', sql: logHold },
]
