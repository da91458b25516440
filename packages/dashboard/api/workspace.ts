import { queryOptions } from '@tanstack/react-query'
import { api, type Resource, unwrap } from './client.ts'

export type Workspace = Resource<'Workspace'>
export type Organization = Workspace['organizations'][number]
export type Project = Organization['projects'][number]
export type EnvironmentName = Project['environments'][number]['name']
export type Role = Organization['role']

/** Loads, once, who is signed in, what they may open, and where the gateway is. */
export const workspaceQuery = queryOptions({
  queryKey: ['workspace'],
  queryFn: () => unwrap(api.GET('/v1/session/bootstrap')),
  staleTime: Number.POSITIVE_INFINITY,
})

/** An environment with the project and the organization that it belongs to. */
export interface ProjectEnvironment {
  readonly organization: Organization
  readonly project: Project
  readonly environment: { readonly id: string; readonly name: EnvironmentName }
}

export interface EnvironmentParams {
  readonly org: string
  readonly project: string
  readonly environment: string
}

export function findOrganization(workspace: Workspace, slug: string): Organization | undefined {
  return workspace.organizations.find(organization => organization.slug === slug)
}

/** Returns the environment of an address, or undefined if it does not exist or the user may not see it. */
export function findEnvironment(
  workspace: Workspace,
  params: EnvironmentParams,
): ProjectEnvironment | undefined {
  const organization = findOrganization(workspace, params.org)
  const project = organization?.projects.find(project => project.slug === params.project)
  const environment = project?.environments.find(environment => environment.name === params.environment)
  if (organization === undefined || project === undefined || environment === undefined) return undefined
  return { organization, project, environment }
}

export function toParams({ organization, project, environment }: ProjectEnvironment): EnvironmentParams {
  return { org: organization.slug, project: project.slug, environment: environment.name }
}

const LAST_ENVIRONMENT = 'rideau.last-environment'

export function rememberEnvironment(current: ProjectEnvironment): void {
  const { org, project, environment } = toParams(current)
  localStorage.setItem(LAST_ENVIRONMENT, `${org}/${project}/${environment}`)
}

/** Returns the environment that was open last, else the first one. */
export function findDefaultEnvironment(workspace: Workspace): ProjectEnvironment | undefined {
  const [org = '', project = '', environment = ''] = (localStorage.getItem(LAST_ENVIRONMENT) ?? '').split('/')
  const last = findEnvironment(workspace, { org, project, environment })
  if (last !== undefined) return last
  for (const organization of workspace.organizations) {
    for (const project of organization.projects) {
      const [first] = project.environments
      if (first !== undefined) return { organization, project, environment: first }
    }
  }
  return undefined
}

const RANK: ReadonlyMap<Role, number> = new Map([
  ['viewer', 0],
  ['developer', 1],
  ['admin', 2],
  ['owner', 3],
])

/** Returns why the user may not do what needs `role`, or undefined if they may. */
export function findDisabledReason(organization: Organization, role: Role): string | undefined {
  if ((RANK.get(organization.role) ?? 0) >= (RANK.get(role) ?? 0)) return undefined
  const article = organization.role === 'admin' || organization.role === 'owner' ? 'an' : 'a'
  return `Needs the ${role} role. You are ${article} ${organization.role} in ${organization.name}; an admin can change this.`
}
