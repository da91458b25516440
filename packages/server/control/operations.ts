import { listCatalogModels } from './catalog/list-catalog-models.ts'
import { listCatalogProviders } from './catalog/list-catalog-providers.ts'
import { getEnvironment } from './environments/get-environment.ts'
import { listEnvironments } from './environments/list-environments.ts'
import { updateEnvironment } from './environments/update-environment.ts'
import { createKey } from './keys/create-key.ts'
import { deleteKey } from './keys/delete-key.ts'
import { getKey } from './keys/get-key.ts'
import { listKeys } from './keys/list-keys.ts'
import { revokeKey } from './keys/revoke-key.ts'
import { getLog } from './logs/get-log.ts'
import { listLogs } from './logs/list-logs.ts'
import type { Operation } from './operation.ts'
import { getOrganization } from './organizations/get-organization.ts'
import { listOrganizations } from './organizations/list-organizations.ts'
import { getProject } from './projects/get-project.ts'
import { listProjects } from './projects/list-projects.ts'
import { createCredential } from './provider-credentials/create-credential.ts'
import { createProjectCredential } from './provider-credentials/create-project-credential.ts'
import { deleteCredential } from './provider-credentials/delete-credential.ts'
import { getCredential } from './provider-credentials/get-credential.ts'
import { listCredentials } from './provider-credentials/list-credentials.ts'
import { listProjectCredentials } from './provider-credentials/list-project-credentials.ts'
import { createSetup } from './setup/create-setup.ts'

/** Every operation of the control plane. */
export const operations: readonly Operation[] = [
  createSetup,
  listOrganizations,
  getOrganization,
  listProjects,
  getProject,
  listEnvironments,
  getEnvironment,
  updateEnvironment,
  listKeys,
  createKey,
  getKey,
  revokeKey,
  deleteKey,
  listProjectCredentials,
  createProjectCredential,
  listCredentials,
  createCredential,
  getCredential,
  deleteCredential,
  listLogs,
  getLog,
  listCatalogProviders,
  listCatalogModels,
]
