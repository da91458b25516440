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
 * age. Deleted organizations and projects are left out. Each organization has a row, so the first ones have them all, and
 * the projects of later ones are not read.
 */
export async function listWorkspace(db: Db, userId: string, limit: number): Promise<WorkspaceRow[]> {
  const memberships = db
    .selectFrom('members')
    .innerJoin('organizations', 'organizations.id', 'members.org_id')
    .select([
      'members.id as member_id',
      'members.role',
      'members.created_at as joined_at',
      'organizations.id as org_id',
      'organizations.name as org_name',
      'organizations.slug as org_slug',
      'organizations.time_zone',
    ])
    .where('members.user_id', '=', userId)
    .where('members.accepted_at', 'is not', null)
    .where('organizations.deleted_at', 'is', null)
    .orderBy('members.created_at')
    .orderBy('members.id')
    .limit(limit)
    .as('m')
  return await db
    .selectFrom(memberships)
    .leftJoinLateral(
      eb =>
        eb
          .selectFrom('projects')
          .select(['projects.id', 'projects.name', 'projects.slug', 'projects.created_at'])
          .whereRef('projects.org_id', '=', 'm.org_id')
          .where('projects.deleted_at', 'is', null)
          .orderBy('projects.created_at')
          .orderBy('projects.id')
          .limit(limit)
          .as('p'),
      join => join.onTrue(),
    )
    .leftJoinLateral(
      eb =>
        eb
          .selectFrom('environments')
          .select(['environments.id', 'environments.name'])
          .whereRef('environments.project_id', '=', 'p.id')
          .orderBy('environments.name')
          .limit(limit)
          .as('e'),
      join => join.onTrue(),
    )
    .select(['m.member_id', 'm.role', 'm.org_id', 'm.org_name', 'm.org_slug', 'm.time_zone'])
    .select(['p.id as project_id', 'p.name as project_name', 'p.slug as project_slug'])
    .select(['e.id as environment_id', 'e.name as environment_name'])
    .orderBy('m.joined_at')
    .orderBy('m.member_id')
    .orderBy('p.created_at')
    .orderBy('p.id')
    .orderBy('e.name')
    .limit(limit)
    .execute()
}
