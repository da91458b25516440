import { useSuspenseQuery } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import {
  findObjection,
  type Organization,
  type Place,
  type Role,
  type Workspace,
  workspaceQuery,
} from '../api/workspace.ts'

export const PlaceContext = createContext<Place | undefined>(undefined)

export const OrganizationContext = createContext<Organization | undefined>(undefined)

/** The organization of the page. Throws outside of an organization's pages. */
export function useOrganization(): Organization {
  const organization = useContext(OrganizationContext)
  if (organization === undefined) throw new Error('this page belongs to no organization')
  return organization
}

/** The environment that the frame shows; undefined where the organization has none. */
export function useMaybePlace(): Place | undefined {
  return useContext(PlaceContext)
}

/** The environment of the page. Throws outside of an environment's pages. */
export function usePlace(): Place {
  const place = useContext(PlaceContext)
  if (place === undefined) throw new Error('this page belongs to no environment')
  return place
}

export function useWorkspace(): Workspace {
  return useSuspenseQuery(workspaceQuery).data
}

/** Why the user may not do what needs the role here; undefined: they may. */
export function useObjection(role: Role): string | undefined {
  return findObjection(useOrganization(), role)
}
