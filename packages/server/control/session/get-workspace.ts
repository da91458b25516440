import { listWorkspace } from '../../storage/tenancy/workspace.ts'
import { getSessionEnd } from '../../storage/users/sessions.ts'
import { getUser } from '../../storage/users/users.ts'
import { defineOperation } from '../operation/operation.ts'
import { toOrganizations, WorkspaceResource } from './workspace-resource.ts'

/** Two rows a project: enough for a thousand projects, and a bound for the response to a user who has more. */
const MAX_ROWS = 2_000

export const getWorkspace = defineOperation('GET /v1/session/bootstrap', {
  name: 'session.get_bootstrap',
  summary:
    'Everything that the dashboard needs first: the signed-in user, the organizations, projects and environments, and the addresses of the gateway.',
  access: 'session',
  response: { 200: WorkspaceResource },
  handle: async ({ services, actor }) => {
    const { wholeDb, scopeSlots } = services
    const { user, endsAt, rows } = await scopeSlots.run(actor, async () => ({
      user: await getUser(wholeDb, actor.id),
      endsAt: await getSessionEnd(wholeDb, actor.sessionId),
      rows: await listWorkspace(wholeDb, actor.id, MAX_ROWS + 1),
    }))
    return {
      user: { id: user.id, email: user.email, name: user.name },
      expires_at: endsAt.toISOString(),
      gateway_url: services.gatewayUrl(),
      prefixes: { ...services.gatewayPrefixes },
      organizations: toOrganizations(rows.slice(0, MAX_ROWS)),
      has_more: rows.length > MAX_ROWS,
    }
  },
})
