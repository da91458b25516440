import { ROLES } from '../../core/access/permissions.ts'
import type { WorkspaceRow } from '../../storage/tenancy/workspace.ts'
import { dateTime, uuid } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'

const named = { id: uuid, name: z.string(), slug: z.string() }

const EnvironmentEntry = z.strictObject({ id: uuid, name: z.enum(['development', 'production']) })
const ProjectEntry = z.strictObject({ ...named, environments: z.array(EnvironmentEntry) })
const OrganizationEntry = z.strictObject({
  ...named,
  time_zone: z.string(),
  role: z.enum(ROLES),
  member_id: uuid,
  projects: z.array(ProjectEntry),
})

export const WorkspaceResource = z
  .strictObject({
    user: z.strictObject({ id: uuid, email: z.string(), name: z.string().nullable() }),
    expires_at: dateTime.meta({ description: 'The session ends then, even if it is used.' }),
    gateway_url: z.string(),
    prefixes: z
      .record(z.string(), z.string())
      .meta({ description: "Where the gateway serves other providers' formats, such as `openai: /openai`." }),
    organizations: z.array(OrganizationEntry),
    has_more: z.boolean().meta({ description: 'There are further projects: see `projects.list`.' }),
  })
  .meta({ id: 'Workspace', description: 'Who is signed in, and what they may open.' })

type Organization = z.output<typeof OrganizationEntry>

/** Groups the rows, which must be in the order of listWorkspace. */
export function toOrganizations(rows: readonly WorkspaceRow[]): Organization[] {
  const organizations = new Map<string, Organization>()
  const projects = new Map<string, Organization['projects'][number]>()
  for (const row of rows) {
    let organization = organizations.get(row.org_id)
    if (organization === undefined) {
      organization = {
        id: row.org_id,
        name: row.org_name,
        slug: row.org_slug,
        time_zone: row.time_zone,
        role: row.role,
        member_id: row.member_id,
        projects: [],
      }
      organizations.set(row.org_id, organization)
    }
    const { project_id: id, project_name: name, project_slug: slug } = row
    if (id === null || name === null || slug === null) continue
    let project = projects.get(id)
    if (project === undefined) {
      project = { id, name, slug, environments: [] }
      projects.set(id, project)
      organization.projects.push(project)
    }
    if (row.environment_id === null) continue
    project.environments.push({
      id: row.environment_id,
      name: row.environment_name === 'production' ? 'production' : 'development',
    })
  }
  return [...organizations.values()]
}
