import { createOrganizationBudget } from './budgets/create-organization-budget.ts'
import { createProjectBudget } from './budgets/create-project-budget.ts'
import { deleteBudget } from './budgets/delete-budget.ts'
import { listOrganizationBudgets } from './budgets/list-organization-budgets.ts'
import { listProjectBudgets } from './budgets/list-project-budgets.ts'
import { updateBudget } from './budgets/update-budget.ts'
import { deleteDeviceAuth } from './device-auth/delete-device-auth.ts'
import { getDeviceAuth } from './device-auth/get-device-auth.ts'
import { putDeviceAuth } from './device-auth/put-device-auth.ts'
import { getEndUserLimits } from './effective-limits/get-end-user-limits.ts'
import { blockEndUser } from './end-users/block-end-user.ts'
import { createEndUser } from './end-users/create-end-user.ts'
import { deleteEndUser } from './end-users/delete-end-user.ts'
import { getEndUser } from './end-users/get-end-user.ts'
import { listEndUsers } from './end-users/list-end-users.ts'
import { unblockEndUser } from './end-users/unblock-end-user.ts'
import { updateEndUser } from './end-users/update-end-user.ts'
import { deleteFederatedAuth } from './federated-auth/delete-federated-auth.ts'
import { getFederatedAuth } from './federated-auth/get-federated-auth.ts'
import { putFederatedAuth } from './federated-auth/put-federated-auth.ts'
import { testFederatedAuth } from './federated-auth/test-federated-auth.ts'
import { createEnvironmentLimit } from './limits/create-environment-limit.ts'
import { createOrganizationLimit } from './limits/create-organization-limit.ts'
import { deleteLimit } from './limits/delete-limit.ts'
import { listEnvironmentLimits } from './limits/list-environment-limits.ts'
import { listOrganizationLimits } from './limits/list-organization-limits.ts'
import { previewLimit } from './limits/preview-limit.ts'
import { updateLimit } from './limits/update-limit.ts'
import type { Operation } from './operation/operation.ts'
import { createPlan } from './plans/create-plan.ts'
import { deletePlan } from './plans/delete-plan.ts'
import { getPlan } from './plans/get-plan.ts'
import { listPlans } from './plans/list-plans.ts'
import { updatePlan } from './plans/update-plan.ts'
import { createQuota } from './quotas/create-quota.ts'
import { deleteQuota } from './quotas/delete-quota.ts'
import { listQuotas } from './quotas/list-quotas.ts'
import { updateQuota } from './quotas/update-quota.ts'
import { createWebhook } from './webhooks/create-webhook.ts'
import { deleteWebhook } from './webhooks/delete-webhook.ts'
import { listWebhookDeliveries } from './webhooks/list-webhook-deliveries.ts'
import { listWebhooks } from './webhooks/list-webhooks.ts'
import { testWebhook } from './webhooks/test-webhook.ts'
import { updateWebhook } from './webhooks/update-webhook.ts'

/** The operations on limits, quotas, budgets, plans, end users and their authentication. */
export const policyOperations: readonly Operation[] = [
  listEnvironmentLimits,
  createEnvironmentLimit,
  previewLimit,
  listOrganizationLimits,
  createOrganizationLimit,
  updateLimit,
  deleteLimit,
  listQuotas,
  createQuota,
  updateQuota,
  deleteQuota,
  listProjectBudgets,
  createProjectBudget,
  listOrganizationBudgets,
  createOrganizationBudget,
  updateBudget,
  deleteBudget,
  listPlans,
  createPlan,
  getPlan,
  updatePlan,
  deletePlan,
  listEndUsers,
  createEndUser,
  getEndUser,
  getEndUserLimits,
  updateEndUser,
  deleteEndUser,
  blockEndUser,
  unblockEndUser,
  getFederatedAuth,
  putFederatedAuth,
  deleteFederatedAuth,
  testFederatedAuth,
  getDeviceAuth,
  putDeviceAuth,
  deleteDeviceAuth,
  listWebhooks,
  createWebhook,
  updateWebhook,
  deleteWebhook,
  testWebhook,
  listWebhookDeliveries,
]
