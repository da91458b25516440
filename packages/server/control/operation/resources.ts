import { type Actor, organizationsOf } from '../../core/access/permissions.ts'
import { type EndUserWithPlanRow, findEndUser } from '../../storage/end-users/end-users.ts'
import type { WebhookRow } from '../../storage/event-tables.ts'
import { findWebhook } from '../../storage/events/webhooks.ts'
import { findKey } from '../../storage/keys/keys.ts'
import { findManagementKey } from '../../storage/keys/management-keys.ts'
import type { CustomModelRow, ModelAliasRow } from '../../storage/model-tables.ts'
import { findCustomModel } from '../../storage/models/custom-models.ts'
import { findModelAlias } from '../../storage/models/model-aliases.ts'
import {
  findProviderCredential,
  type ProviderCredentialRow,
} from '../../storage/models/provider-credentials.ts'
import { findBudget } from '../../storage/policies/budgets.ts'
import { findLimit } from '../../storage/policies/limits.ts'
import { findPlan } from '../../storage/policies/plans.ts'
import { findQuota } from '../../storage/policies/quotas.ts'
import type { BudgetRow, LimitRow, PlanRow, QuotaRow } from '../../storage/policy-tables.ts'
import type { Db } from '../../storage/pool.ts'
import { findRequestLog, type RequestLogRow } from '../../storage/records/request-log-list.ts'
import type {
  EnvironmentRow,
  KeyRow,
  ManagementKeyRow,
  OrganizationRow,
  ProjectRow,
} from '../../storage/schema.ts'
import { findEnvironment } from '../../storage/tenancy/environments.ts'
import { findOrganization } from '../../storage/tenancy/organizations.ts'
import { findProject } from '../../storage/tenancy/projects.ts'
import { findMember, type MemberWithUserRow } from '../../storage/users/members.ts'

/** The kinds of resources that a path can name, as stored. */
export interface Resources {
  readonly org: OrganizationRow
  readonly project: ProjectRow
  readonly environment: EnvironmentRow
  readonly key: KeyRow
  readonly provider_credential: ProviderCredentialRow
  readonly model_alias: ModelAliasRow
  readonly custom_model: CustomModelRow
  readonly log: RequestLogRow
  readonly member: MemberWithUserRow
  readonly management_key: ManagementKeyRow
  readonly limit: LimitRow
  readonly quota: QuotaRow
  readonly budget: BudgetRow
  readonly plan: PlanRow
  readonly end_user: EndUserWithPlanRow
  readonly webhook: WebhookRow
}

export type ResourceKind = keyof Resources

export interface FoundResource {
  readonly orgId: string
  readonly row: Resources[ResourceKind]
}

/** Returns the resource and its organization; undefined if it does not exist or lies below a deleted one. */
export async function findResource(
  db: Db,
  kind: ResourceKind,
  id: string,
  actor: Actor,
): Promise<FoundResource | undefined> {
  // A user without an organization sees no resource.
  if (organizationsOf(actor).length === 0) return undefined
  if (kind === 'org') {
    const row = await findOrganization(db, id)
    return row === undefined ? undefined : { orgId: row.id, row }
  }
  const row = await find[kind](db, id, actor)
  return row === undefined ? undefined : { orgId: row.org_id, row }
}

const find = {
  project: findProject,
  environment: findEnvironment,
  key: findKey,
  provider_credential: findProviderCredential,
  model_alias: findModelAlias,
  custom_model: findCustomModel,
  log: (db: Db, id: string, actor: Actor) => findRequestLog(db, id, organizationsOf(actor)),
  member: findMember,
  management_key: findManagementKey,
  limit: findLimit,
  quota: findQuota,
  budget: findBudget,
  plan: findPlan,
  end_user: findEndUser,
  webhook: findWebhook,
}
