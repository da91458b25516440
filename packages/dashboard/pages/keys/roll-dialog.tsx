import { useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../../api/client.ts'
import { type Key, keysKey, type NewKey } from '../../api/key-calls.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { SelectField } from '../../controls/field.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { useEnvironment } from '../../session/environment-context.tsx'

interface RollDialogProps {
  readonly old: Key
  readonly onClose: () => void
  readonly onDone: (key: NewKey) => void
}

export function RollDialog({ old, onClose, onDone }: RollDialogProps) {
  const { environment } = useEnvironment()
  const client = useQueryClient()
  const form = useForm(
    data =>
      unwrap(
        api.POST('/v1/keys/{keyId}/roll', {
          params: { path: { keyId: old.id } },
          body: { overlap_hours: Number(textOf(data, 'overlap_hours')) },
        }),
      ),
    key => {
      void client.invalidateQueries({ queryKey: keysKey(environment.id) })
      onDone(key)
    },
  )
  return (
    <Dialog title={`Roll ${old.name}`} onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <p>
          You get a new key with the same rights. It shares the limits, quotas and budgets of the old one,
          with what is left of them. The old one keeps working for a while so that you can replace it.
        </p>
        <SelectField label="The old key works for" name="overlap_hours" defaultValue="1">
          <option value="0">0 hours: it stops at once</option>
          <option value="1">1 hour</option>
          <option value="24">24 hours</option>
          <option value="72">72 hours</option>
        </SelectField>
        <FormProblem error={form.error} />
        <div className="form-end">
          <Button onClick={onClose} data-focus>
            Cancel
          </Button>
          <Button type="submit" variant="primary" isPending={form.isPending}>
            Roll key
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
