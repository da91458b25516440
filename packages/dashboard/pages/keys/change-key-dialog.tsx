import { useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../../api/client.ts'
import { type Key, keysKey } from '../../api/key-calls.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { TextField } from '../../controls/field.tsx'
import { useForm } from '../../controls/use-form.ts'
import { toDateTime } from '../../format/times.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { ExpiryField, RestrictionFields, readKeyFields } from './key-fields.tsx'

/** Changes the name, the restrictions and the expiry of a key. The key itself stays the same. */
export function ChangeKeyDialog({ old, onClose }: { old: Key; onClose: () => void }) {
  const { environment, organization } = useEnvironment()
  const client = useQueryClient()
  const form = useForm(
    (data, header) =>
      unwrap(
        api.PATCH('/v1/keys/{keyId}', {
          params: { path: { keyId: old.id }, header },
          body: readKeyFields(data),
        }),
      ),
    () => {
      void client.invalidateQueries({ queryKey: keysKey(environment.id) })
      onClose()
    },
  )
  const { expires_at: end } = old
  return (
    <Dialog title={`Change ${old.name}`} variant="drawer" onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <TextField
          label="Name"
          name="name"
          required
          maxLength={200}
          data-focus
          defaultValue={old.name}
          problem={form.problemOf('name')}
        />
        <RestrictionFields restrictions={old.restrictions} problemOf={form.problemOf} />
        <ExpiryField
          kept={
            end === null
              ? 'Never (unchanged)'
              : `${toDateTime(Date.parse(end), organization.time_zone)} (unchanged)`
          }
        />
        <p className="muted">Takes effect with the next request that uses this key.</p>
        <FormProblem error={form.error} />
        <div className="form-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isPending={form.isPending}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
