import { initial } from './0001-initial.ts'
import { unprovenAddresses } from './0002-unproven-addresses.ts'
import { devices } from './0003-devices.ts'
import { idempotency } from './0004-idempotency.ts'
import { createsAndCaps } from './0005-creates-and-caps.ts'
import { circuits } from './0006-circuits.ts'
import { namedUser } from './0007-named-user.ts'
import { listsAndMessages } from './0008-lists-and-messages.ts'
import { findEndUsers } from './0010-find-end-users.ts'
import { usageZones } from './0011-usage-zones.ts'
import { savedViews } from './0012-saved-views.ts'
import { rows } from './0013-rows.ts'
import { logFilters } from './0014-log-filters.ts'
import { logIndexes } from './0015-log-indexes.ts'
import { usageKey } from './0016-usage-key.ts'
import { secretOptions } from './0017-secret-options.ts'
import { timeZones } from './0018-time-zones.ts'
import { pendingDeliveries } from './0019-pending-deliveries.ts'
import { rolledKeys } from './0020-rolled-keys.ts'
import { plansOfTokens } from './0021-plans-of-tokens.ts'
import { replacedSigningKeys } from './0022-replaced-signing-keys.ts'
import { largeDatabases } from './0023-large-databases.ts'
import { sumsAndTail } from './0024-sums-and-tail.ts'
import { turnsAndBatches } from './0025-turns-and-batches.ts'
import { liveAnnouncements } from './0026-live-announcements.ts'
import { agesOfAnswers } from './0027-ages-of-answers.ts'

/** One step of the schema. A released migration never changes: a correction is a new migration. */
export interface NumberedMigration {
  /** Migrations are applied in the order of their names. */
  readonly name: string
  readonly sql: string
}

export const MIGRATIONS: readonly NumberedMigration[] = [
  { name: '0001-initial', sql: initial },
  { name: '0002-unproven-addresses', sql: unprovenAddresses },
  { name: '0003-devices', sql: devices },
  { name: '0004-idempotency', sql: idempotency },
  { name: '0005-creates-and-caps', sql: createsAndCaps },
  { name: '0006-circuits', sql: circuits },
  { name: '0007-named-user', sql: namedUser },
  { name: '0008-lists-and-messages', sql: listsAndMessages },
  { name: '0010-find-end-users', sql: findEndUsers },
  { name: '0011-usage-zones', sql: usageZones },
  { name: '0012-saved-views', sql: savedViews },
  { name: '0013-rows', sql: rows },
  { name: '0014-log-filters', sql: logFilters },
  { name: '0015-log-indexes', sql: logIndexes },
  { name: '0016-usage-key', sql: usageKey },
  { name: '0017-secret-options', sql: secretOptions },
  { name: '0018-time-zones', sql: timeZones },
  { name: '0019-pending-deliveries', sql: pendingDeliveries },
  { name: '0020-rolled-keys', sql: rolledKeys },
  { name: '0021-plans-of-tokens', sql: plansOfTokens },
  { name: '0022-replaced-signing-keys', sql: replacedSigningKeys },
  { name: '0023-large-databases', sql: largeDatabases },
  { name: '0024-sums-and-tail', sql: sumsAndTail },
  { name: '0025-turns-and-batches', sql: turnsAndBatches },
  { name: '0026-live-announcements', sql: liveAnnouncements },
  { name: '0027-ages-of-answers', sql: agesOfAnswers },
]
