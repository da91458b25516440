import { isLiveProject } from '../live-owner.ts'
import type { Db } from '../pool.ts'
import { defineTable } from '../table.ts'

const projects = defineTable('projects', isLiveProject)

export const { insert: insertProject, find: findProject, updateExisting: updateProject } = projects

/** The organization's projects, without deleted ones. */
export const listProjects = projects.listBy('org_id', { deleted_at: null })

/** True if a project of the organization has the slug. A deleted one gives its slug up. */
export function isProjectSlugTaken(db: Db, orgId: string, slug: string): Promise<boolean> {
  return projects.exists(db, { org_id: orgId, slug, deleted_at: null })
}

/** Marks the project as deleted. The row stays, so that keys below it are answered with key_revoked. */
export function removeProject(db: Db, id: string, now: Date): Promise<boolean> {
  return projects.setTimeOnce(db, id, 'deleted_at', now)
}
