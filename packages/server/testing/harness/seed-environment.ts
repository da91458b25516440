import type { Pool } from 'pg'
import { systemClock } from '../../core/clock.ts'
import { openIds } from '../../core/ids.ts'
import { systemRandom } from '../../core/random.ts'

export interface SeededEnvironment {
  readonly orgId: string
  readonly projectId: string
  readonly environmentId: string
}

/** Inserts an organization with a project and its development environment by plain SQL. */
export async function seedEnvironment(pool: Pool): Promise<SeededEnvironment> {
  const id = openIds(systemClock, systemRandom)
  const [orgId, projectId, environmentId] = [id(), id(), id()]
  await pool.query(
    `insert into organizations (id, name, slug, created_at, updated_at) values ($1, 'Acme', $2, now(), now())`,
    [orgId, `acme-${orgId}`],
  )
  await pool.query(
    `insert into projects (id, org_id, name, slug, allowed_origins, created_at, updated_at)
      values ($1, $2, 'App', 'app', '{https://app.example}', now(), now())`,
    [projectId, orgId],
  )
  await pool.query(
    `insert into environments (id, org_id, project_id, name, is_default, log_capture, created_at, updated_at)
      values ($1, $2, $3, 'development', true, 'full', now(), now())`,
    [environmentId, orgId, projectId],
  )
  return { orgId, projectId, environmentId }
}
