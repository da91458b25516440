import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, unwrap } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { TextField } from '../../controls/field.tsx'
import { useForm } from '../../controls/use-form.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { type Credential, credentialsKey } from './provider-calls.ts'

export function RemoveCredentialDialog({ target, onClose }: { target: Credential; onClose: () => void }) {
  const { environment } = useEnvironment()
  const client = useQueryClient()
  const [typed, setTyped] = useState('')
  const form = useForm(
    () => unwrap(api.DELETE('/v1/provider-credentials/{id}', { params: { path: { id: target.id } } })),
    () => {
      void client.invalidateQueries({ queryKey: credentialsKey(environment.id) })
      onClose()
    },
  )
  return (
    <Dialog title={`Remove ${target.name}`} onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <p>
          Requests to this provider fail from now on, unless it has another key here. The key itself stays
          valid at the provider: revoke it there too.
        </p>
        <TextField
          label={`Type ${target.name} to confirm`}
          value={typed}
          onChange={event => setTyped(event.target.value)}
        />
        <FormProblem error={form.error} />
        <div className="form-end">
          <Button onClick={onClose} data-focus>
            Cancel
          </Button>
          <Button
            type="submit"
            variant="danger"
            isPending={form.isPending}
            disabledReason={typed.trim() === target.name ? undefined : 'Type the name first.'}
          >
            Remove
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
