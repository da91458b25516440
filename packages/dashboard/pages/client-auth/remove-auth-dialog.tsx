import { useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../../api/client.ts'
import { ConfirmDialog } from '../../controls/confirm-dialog.tsx'
import { useEnvironment } from '../../session/environment-context.tsx'

interface RemoveAuthDialogProps {
  readonly what: 'remove-identity' | 'remove-device'
  readonly onClose: () => void
}

export function RemoveAuthDialog({ what, onClose }: RemoveAuthDialogProps) {
  const { project } = useEnvironment()
  const client = useQueryClient()
  const removal = what === 'remove-identity' ? 'federated-auth' : 'device-auth'
  return (
    <ConfirmDialog
      title={what === 'remove-identity' ? 'Remove the identity provider' : 'Turn off devices'}
      name={project.name}
      action="Remove"
      send={() =>
        unwrap(
          api.DELETE(`/v1/projects/{projectId}/${removal}`, {
            params: { path: { projectId: project.id } },
          }),
        )
      }
      onDone={() => void client.invalidateQueries({ queryKey: [removal, project.id] })}
      onClose={onClose}
    >
      <p>No new tokens are issued this way. Tokens that were already issued expire within an hour.</p>
    </ConfirmDialog>
  )
}
