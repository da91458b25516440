import { useSuspenseQuery } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import {
  findDisabledReason,
  type Organization,
  type ProjectEnvironment,
  type Role,
  type Workspace,
  workspaceQuery,
} from '../api/workspace.ts'

export const EnvironmentContext = createContext<ProjectEnvironment | undefined>(undefined)

export const OrganizationContext = createContext<Organization | undefined>(undefined)

/** Returns the organization of the page. Throws outside of an organization's pages. */
export function useOrganization(): Organization {
  const organization = useContext(OrganizationContext)
  if (organization === undefined) throw new Error('this page belongs to no organization')
  return organization
}

/** Returns the environment that the AppShell shows, or undefined if the organization has none. */
export function useOptionalEnvironment(): ProjectEnvironment | undefined {
  return useContext(EnvironmentContext)
}

/** Returns the environment of the page with its project and organization. Throws outside of an environment's pages. */
export function useEnvironment(): ProjectEnvironment {
  const current = useContext(EnvironmentContext)
  if (current === undefined) throw new Error('this page belongs to no environment')
  return current
}

export function useWorkspace(): Workspace {
  return useSuspenseQuery(workspaceQuery).data
}

/** Returns why the user may not do what needs the role in this organization, or undefined if they may. */
export function useDisabledReason(role: Role): string | undefined {
  return findDisabledReason(useOrganization(), role)
}
