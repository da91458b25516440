import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, unwrap } from '../../api/client.ts'
import { keysKey, type NewKey } from '../../api/key-calls.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { SelectField, TextField } from '../../controls/field.tsx'
import { useForm } from '../../controls/use-form.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { ExpiryField, RestrictionFields, readKeyFields } from './key-fields.tsx'

export function CreateKeyDialog({ onClose, onDone }: { onClose: () => void; onDone: (key: NewKey) => void }) {
  const { environment } = useEnvironment()
  const client = useQueryClient()
  const [kind, setKind] = useState<'secret' | 'publishable'>('secret')
  // A second click must not create a second key.
  const [idempotencyKey] = useState(newIdempotencyKey)
  const form = useForm(
    data =>
      unwrap(
        api.POST('/v1/environments/{envId}/keys', {
          params: { path: { envId: environment.id }, header: { 'Idempotency-Key': idempotencyKey } },
          body: { kind, ...readKeyFields(data) },
        }),
      ),
    key => {
      void client.invalidateQueries({ queryKey: keysKey(environment.id) })
      onDone(key)
    },
  )
  return (
    <Dialog title={`Create a ${environment.name} key`} variant="drawer" onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <TextField
          label="Name"
          name="name"
          required
          maxLength={200}
          data-focus
          hint="Where it will be used, such as web-backend."
          problem={form.problemOf('name')}
        />
        <SelectField
          label="Kind"
          value={kind}
          onChange={event => setKind(event.target.value === 'publishable' ? 'publishable' : 'secret')}
          hint={
            kind === 'secret'
              ? 'For servers only: anyone who has it can call models.'
              : 'Safe to include in an app or a page: on its own it gives no access.'
          }
        >
          <option value="secret">Secret</option>
          <option value="publishable">Publishable</option>
        </SelectField>
        <RestrictionFields problemOf={form.problemOf} />
        <ExpiryField />
        <FormProblem error={form.error} />
        <div className="form-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isPending={form.isPending}>
            Create key
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Returns a random id. `crypto.randomUUID` exists only on HTTPS and localhost. */
function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), byte =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}
