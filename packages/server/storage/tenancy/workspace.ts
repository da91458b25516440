import type { Role } from '../../core/access/permissions.ts'
import type { Db } from '../pool.ts'

/** One environment, with its project and its organization. The three columns of an environment are null for a project without any. */
export interface WorkspaceRow {
  readonly member_id: string
  readonly role: Role
  readonly org_id: string
  readonly org_name: string
  readonly org_slug: string
  readonly time_zone: string
  readonly project_id: string | null
  readonly project_name: string | null
  readonly project_slug: string | null
  readonly environment_id: string | null
  readonly environment_name: string | null
}

/**
 * Everything that the user may open, at most `limit` rows: organizations in the order of joining, projects and environments by
 * age. Deleted organizations and projects are left out.
 */
export async function listWorkspace(db: Db, userId: string, limit: number): Promise<WorkspaceRow[]> {
  return await db
    .selectFrom('members')
    .innerJoin('organizations', 'organizations.id', 'members.org_id')
    .leftJoin('projects', join =>
      join.onRef('projects.org_id', '=', 'organizations.id').on('projects.deleted_at', 'is', null),
    )
    .leftJoin('environments', 'environments.project_id', 'projects.id')
    .select([
      'members.id as member_id',
      'members.role',
      'organizations.id as org_id',
      'organizations.name as org_name',
      'organizations.slug as org_slug',
      'organizations.time_zone',
      'projects.id as project_id',
      'projects.name as project_name',
      'projects.slug as project_slug',
      'environments.id as environment_id',
      'environments.name as environment_name',
    ])
    .where('members.user_id', '=', userId)
    .where('members.accepted_at', 'is not', null)
    .where('organizations.deleted_at', 'is', null)
    .orderBy('members.created_at')
    .orderBy('members.id')
    .orderBy('projects.created_at')
    .orderBy('projects.id')
    .orderBy('environments.name')
    .limit(limit)
    .execute()
}
