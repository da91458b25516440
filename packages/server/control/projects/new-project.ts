import type { EnvironmentName } from '../../core/tenancy/tenancy.ts'
import { insertProviderCredential } from '../../storage/models/provider-credentials.ts'
import type { Db } from '../../storage/pool.ts'
import type { EnvironmentRow, ProjectRow } from '../../storage/schema.ts'
import { insertEnvironment } from '../../storage/tenancy/environments.ts'
import { insertProject } from '../../storage/tenancy/projects.ts'
import { defaultSettings } from '../environments/default-settings.ts'
import type { Services } from '../operation/operation.ts'
import { toCredentialRow } from '../provider-credentials/new-credential.ts'

export interface NewProject {
  readonly orgId: string
  readonly name: string
  readonly slug: string
  readonly allowedOrigins: readonly string[]
}

export interface ProjectTree {
  readonly project: ProjectRow
  readonly development: EnvironmentRow
  readonly production: EnvironmentRow
}

/**
 * Creates a project with both its environments, and a credential for the sandbox in the development one. `tx` must be a
 * transaction, so that a failure leaves nothing behind.
 */
export async function createProject(
  tx: Db,
  services: Pick<Services, 'clock' | 'newId' | 'secretBox'>,
  input: NewProject,
): Promise<ProjectTree> {
  const now = new Date(services.clock.now())
  const project: ProjectRow = {
    id: services.newId(),
    org_id: input.orgId,
    name: input.name,
    slug: input.slug,
    allowed_origins: [...input.allowedOrigins],
    created_at: now,
    updated_at: now,
    deleted_at: null,
  }
  // Both have the same creation time. Lists are newest first, so the greater id lists development first.
  const [productionId = '', developmentId = ''] = [services.newId(), services.newId()].sort()
  const development = toEnvironmentRow(project, developmentId, 'development', now)
  const production = toEnvironmentRow(project, productionId, 'production', now)
  await insertProject(tx, project)
  await insertEnvironment(tx, development)
  await insertEnvironment(tx, production)
  const sandbox = { provider: 'sandbox', name: 'Sandbox', apiKey: '', baseUrl: null, options: {}, weight: 1 }
  await insertProviderCredential(tx, toCredentialRow(services, development, sandbox))
  return { project, development, production }
}

/** Development is the default environment. */
function toEnvironmentRow(project: ProjectRow, id: string, name: EnvironmentName, now: Date): EnvironmentRow {
  return {
    id,
    org_id: project.org_id,
    project_id: project.id,
    name,
    is_default: name === 'development',
    ...defaultSettings(name),
    created_at: now,
    updated_at: now,
  }
}
