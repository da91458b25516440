import { changeNotifications } from './0001-initial/change-notifications.ts'
import { credentials } from './0001-initial/credentials.ts'
import { events } from './0001-initial/events.ts'
import { masterKeyGuard } from './0001-initial/master-key-guard.ts'
import { models } from './0001-initial/models.ts'
import { partitions } from './0001-initial/partitions.ts'
import { people } from './0001-initial/people.ts'
import { policies } from './0001-initial/policies.ts'
import { requestLog } from './0001-initial/request-log.ts'
import { rowSecurity } from './0001-initial/row-security.ts'
import { tenancy } from './0001-initial/tenancy.ts'
import { usage } from './0001-initial/usage.ts'

/**
 * The schema of the first release, one part per subject. Read in this order: the tables, then what holds for many of
 * them (notifications, the guard on encrypted columns, row-level security).
 */
export const initial = [
  tenancy,
  people,
  credentials,
  models,
  policies,
  requestLog,
  usage,
  partitions,
  events,
  changeNotifications,
  masterKeyGuard,
  rowSecurity,
].join('\n')
