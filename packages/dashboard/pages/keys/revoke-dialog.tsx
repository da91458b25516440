import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, unwrap } from '../../api/client.ts'
import { type Key, keysKey } from '../../api/key-calls.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { TextField } from '../../controls/field.tsx'
import { useForm } from '../../controls/use-form.ts'
import { useNow } from '../../controls/use-now.ts'
import { toRelativeTime } from '../../format/times.ts'
import { useEnvironment } from '../../session/environment-context.tsx'

export function RevokeDialog({ target, onClose }: { target: Key; onClose: () => void }) {
  const { environment } = useEnvironment()
  const client = useQueryClient()
  const now = useNow()
  const [typed, setTyped] = useState('')
  const form = useForm(
    () => unwrap(api.POST('/v1/keys/{keyId}/revoke', { params: { path: { keyId: target.id } } })),
    () => {
      void client.invalidateQueries({ queryKey: keysKey(environment.id) })
      onClose()
    },
  )
  const usedAt = target.last_used_at
  return (
    <Dialog title={`Revoke ${target.name}`} onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <p>
          Calls with this key fail within a second, and this cannot be undone. It was{' '}
          {usedAt === null ? 'never used' : `last used ${toRelativeTime(Date.parse(usedAt), now)}`}.
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
            disabledReason={typed.trim() === target.name ? undefined : 'Type the name of the key first.'}
          >
            Revoke key
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
