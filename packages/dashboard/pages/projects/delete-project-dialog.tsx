import { useQueries } from '@tanstack/react-query'
import { api, type Resource, unwrap } from '../../api/client.ts'
import { ConfirmDialog } from '../../controls/confirm-dialog.tsx'
import { useOrganization } from '../../session/environment-context.tsx'

interface DeleteProjectDialogProps {
  readonly target: Resource<'Project'>
  readonly onClose: () => void
  readonly onDone: () => void
}

/** Shows how many keys stop working before the user confirms by the project's name. */
export function DeleteProjectDialog({ target, onClose, onDone }: DeleteProjectDialogProps) {
  const environments = useOrganization().projects.find(({ id }) => id === target.id)?.environments ?? []
  const keys = useQueries({
    queries: environments.map(({ id: envId }) => ({
      queryKey: ['first-keys', envId],
      queryFn: () =>
        unwrap(
          api.GET('/v1/environments/{envId}/keys', {
            params: { path: { envId }, query: { limit: 100 } },
          }),
        ),
    })),
  })
  const isKnown = keys.every(({ isSuccess }) => isSuccess)
  const hasMore = keys.some(({ data }) => data?.has_more === true)
  const now = Date.now()
  const count = keys
    .flatMap(({ data }) => data?.data ?? [])
    .filter(
      ({ revoked_at, expires_at }) =>
        revoked_at === null && (expires_at === null || Date.parse(expires_at) > now),
    ).length
  return (
    <ConfirmDialog
      title={`Delete ${target.name}`}
      name={target.name}
      action="Delete project"
      send={() =>
        unwrap(api.DELETE('/v1/projects/{projectId}', { params: { path: { projectId: target.id } } }))
      }
      onDone={onDone}
      onClose={onClose}
    >
      <p>
        {isKnown
          ? `${hasMore ? `More than ${count}` : count} ${count === 1 && !hasMore ? 'key stops' : 'keys stop'} at once, `
          : 'All its keys stop at once, '}
        in both environments, and every client token with them. This cannot be undone. Its usage stays in the
        organization’s bill.
      </p>
    </ConfirmDialog>
  )
}
