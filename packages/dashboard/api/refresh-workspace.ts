import type { QueryClient } from '@tanstack/react-query'
import { workspaceQuery } from './workspace.ts'

/** Loads the workspace again. Call it after an organization, a project or the user's own role has changed. */
export async function refreshWorkspace(client: QueryClient): Promise<void> {
  await client.invalidateQueries({ queryKey: workspaceQuery.queryKey })
}
