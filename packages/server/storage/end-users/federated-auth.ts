import type { Selectable } from 'kysely'
import type { FederatedAuthTable } from '../policy-tables.ts'
import { defineProjectTable } from '../project-table.ts'

export type FederatedAuthRow = Selectable<FederatedAuthTable>

export const {
  find: findFederatedAuth,
  upsert: upsertFederatedAuth,
  remove: removeFederatedAuth,
} = defineProjectTable('federated_auth')
