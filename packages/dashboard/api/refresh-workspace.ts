import type { QueryClient } from '@tanstack/react-query'
import { workspaceQuery } from './workspace.ts'

/** Loads again what the frame shows: after an organization, a project or one's own role has changed. */
export async function refreshWorkspace(client: QueryClient): Promise<void> {
  await client.invalidateQueries({ queryKey: workspaceQuery.queryKey })
}
