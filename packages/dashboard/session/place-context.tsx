import { useSuspenseQuery } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import { findObjection, type Place, type Role, type Workspace, workspaceQuery } from '../api/workspace.ts'

export const PlaceContext = createContext<Place | undefined>(undefined)

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
  return findObjection(usePlace().organization, role)
}
