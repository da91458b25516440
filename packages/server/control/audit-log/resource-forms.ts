import { toBudgetRecord } from '../budgets/budget-resource.ts'
import { toCustomModelResource } from '../custom-models/custom-model-resource.ts'
import { toEndUserRecord } from '../end-users/end-user-resource.ts'
import { toEnvironmentResource } from '../environments/environment-resource.ts'
import { toKeyResource } from '../keys/key-resource.ts'
import { toLimitRecord } from '../limits/limit-resource.ts'
import { toLogResource } from '../logs/log-resource.ts'
import { toManagementKeyResource } from '../management-keys/management-key-resource.ts'
import { toMemberResource } from '../members/member-resource.ts'
import { toAliasResource } from '../model-aliases/alias-resource.ts'
import type { ResourceKind, Resources } from '../operation/resources.ts'
import { toOrganizationResource } from '../organizations/organization-resource.ts'
import { toPlanResource } from '../plans/plan-resource.ts'
import { toProjectResource } from '../projects/project-resource.ts'
import { toCredentialResource } from '../provider-credentials/credential-resource.ts'
import { toQuotaRecord } from '../quotas/quota-resource.ts'
import { toWebhookResource } from '../webhooks/webhook-resource.ts'

interface Form<Row> {
  /** The prefix of operations on the kind: `keys` in `keys.revoke`. */
  readonly noun: string
  /** Returns the record as the API shows it, which never contains a secret. */
  readonly toRecord: (row: Row) => unknown
}

/** The audit log's form of each resource, used for its state before an operation. */
export const FORMS: { readonly [Kind in ResourceKind]: Form<Resources[Kind]> } = {
  org: { noun: 'orgs', toRecord: toOrganizationResource },
  project: { noun: 'projects', toRecord: toProjectResource },
  environment: { noun: 'environments', toRecord: toEnvironmentResource },
  key: { noun: 'keys', toRecord: toKeyResource },
  provider_credential: { noun: 'provider_credentials', toRecord: toCredentialResource },
  model_alias: { noun: 'model_aliases', toRecord: toAliasResource },
  custom_model: { noun: 'custom_models', toRecord: toCustomModelResource },
  log: { noun: 'logs', toRecord: toLogResource },
  member: { noun: 'members', toRecord: toMemberResource },
  management_key: { noun: 'management_keys', toRecord: toManagementKeyResource },
  limit: { noun: 'limits', toRecord: toLimitRecord },
  quota: { noun: 'quotas', toRecord: toQuotaRecord },
  budget: { noun: 'budgets', toRecord: toBudgetRecord },
  plan: { noun: 'plans', toRecord: toPlanResource },
  end_user: { noun: 'end_users', toRecord: toEndUserRecord },
  webhook: { noun: 'webhooks', toRecord: toWebhookResource },
}
