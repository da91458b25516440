import { useQueryClient } from '@tanstack/react-query'
import { answerOf, api } from '../../api/client.ts'
import { ConfirmDialog } from '../../controls/confirm-dialog.tsx'
import { usePlace } from '../../session/place-context.tsx'

interface RemovalDialogProps {
  readonly what: 'remove-identity' | 'remove-device'
  readonly onClose: () => void
}

export function RemovalDialog({ what, onClose }: RemovalDialogProps) {
  const { project } = usePlace()
  const client = useQueryClient()
  const removal = what === 'remove-identity' ? 'federated-auth' : 'device-auth'
  return (
    <ConfirmDialog
      title={what === 'remove-identity' ? 'Remove the identity provider' : 'Turn devices off'}
      name={project.name}
      action="Remove"
      send={() =>
        answerOf(
          api.DELETE(`/v1/projects/{projectId}/${removal}`, {
            params: { path: { projectId: project.id } },
          }),
        )
      }
      onDone={() => void client.invalidateQueries({ queryKey: [removal, project.id] })}
      onClose={onClose}
    >
      <p>No new token is given that way. Tokens that were given already end within an hour.</p>
    </ConfirmDialog>
  )
}
