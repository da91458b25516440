import { listAuditLog } from './audit-log/list-audit-log.ts'
import { listCallableModels, listCatalogModels } from './catalog/list-catalog-models.ts'
import { listCatalogProviders } from './catalog/list-catalog-providers.ts'
import { getKeyLimits } from './effective-limits/get-key-limits.ts'
import { getEnvironment } from './environments/get-environment.ts'
import { listEnvironments } from './environments/list-environments.ts'
import { updateEnvironment } from './environments/update-environment.ts'
import { acceptInvitation } from './invitations/accept-invitation.ts'
import { lookupInvitation } from './invitations/lookup-invitation.ts'
import { createKey } from './keys/create-key.ts'
import { deleteKey } from './keys/delete-key.ts'
import { getKey } from './keys/get-key.ts'
import { listKeys } from './keys/list-keys.ts'
import { revokeKey } from './keys/revoke-key.ts'
import { getLog } from './logs/get-log.ts'
import { getLogHistogram } from './logs/get-log-histogram.ts'
import { listErrors } from './logs/list-errors.ts'
import { listLogs } from './logs/list-logs.ts'
import { createManagementKey } from './management-keys/create-management-key.ts'
import { deleteManagementKey } from './management-keys/delete-management-key.ts'
import { listManagementKeys } from './management-keys/list-management-keys.ts'
import { revokeManagementKey } from './management-keys/revoke-management-key.ts'
import { createResetLink } from './members/create-reset-link.ts'
import { deleteMember } from './members/delete-member.ts'
import { inviteMember } from './members/invite-member.ts'
import { listMembers } from './members/list-members.ts'
import { updateMember } from './members/update-member.ts'
import { modelOperations } from './model-operations.ts'
import type { Operation } from './operation/operation.ts'
import { createOrganization } from './organizations/create-organization.ts'
import { deleteOrganization } from './organizations/delete-organization.ts'
import { getOrganization } from './organizations/get-organization.ts'
import { listOrganizations } from './organizations/list-organizations.ts'
import { updateOrganization } from './organizations/update-organization.ts'
import { createPlaygroundToken } from './playground-tokens/create-playground-token.ts'
import { policyOperations } from './policy-operations.ts'
import { createProject } from './projects/create-project.ts'
import { deleteProject } from './projects/delete-project.ts'
import { getProject } from './projects/get-project.ts'
import { listProjects } from './projects/list-projects.ts'
import { updateProject } from './projects/update-project.ts'
import { createCredential } from './provider-credentials/create-credential.ts'
import { createProjectCredential } from './provider-credentials/create-project-credential.ts'
import { deleteCredential } from './provider-credentials/delete-credential.ts'
import { getCredential } from './provider-credentials/get-credential.ts'
import { listCredentials } from './provider-credentials/list-credentials.ts'
import { listProjectCredentials } from './provider-credentials/list-project-credentials.ts'
import { deleteSavedView } from './saved-views/delete-saved-view.ts'
import { listSavedViews } from './saved-views/list-saved-views.ts'
import { putSavedView } from './saved-views/put-saved-view.ts'
import { changePassword } from './session/change-password.ts'
import { createSession } from './session/create-session.ts'
import { deleteSession } from './session/delete-session.ts'
import { getSession } from './session/get-session.ts'
import { getSignInOptions } from './session/get-sign-in-options.ts'
import { getWorkspace } from './session/get-workspace.ts'
import { resetPassword } from './session/reset-password.ts'
import { createSetup } from './setup/create-setup.ts'
import { listEnvironmentUsage } from './usage/list-environment-usage.ts'
import { listOrganizationUsage } from './usage/list-organization-usage.ts'
import { listProjectUsage } from './usage/list-project-usage.ts'

/** Every operation of the control plane. */
export const operations: readonly Operation[] = [
  createSetup,
  createSession,
  getSession,
  getWorkspace,
  getSignInOptions,
  deleteSession,
  changePassword,
  resetPassword,
  listSavedViews,
  putSavedView,
  deleteSavedView,
  listOrganizations,
  createOrganization,
  getOrganization,
  updateOrganization,
  deleteOrganization,
  listMembers,
  inviteMember,
  updateMember,
  deleteMember,
  createResetLink,
  acceptInvitation,
  lookupInvitation,
  listManagementKeys,
  createManagementKey,
  revokeManagementKey,
  deleteManagementKey,
  listProjects,
  createProject,
  getProject,
  updateProject,
  deleteProject,
  listEnvironments,
  getEnvironment,
  updateEnvironment,
  createPlaygroundToken,
  listKeys,
  createKey,
  getKey,
  getKeyLimits,
  revokeKey,
  deleteKey,
  listProjectCredentials,
  createProjectCredential,
  listCredentials,
  createCredential,
  getCredential,
  deleteCredential,
  listAuditLog,
  listOrganizationUsage,
  listProjectUsage,
  listEnvironmentUsage,
  listLogs,
  getLogHistogram,
  listErrors,
  getLog,
  listCatalogProviders,
  listCatalogModels,
  listCallableModels,
  ...modelOperations,
  ...policyOperations,
]
