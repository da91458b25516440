import { useState } from 'react'
import { api, type Resource, unwrap } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { SelectField, TextField } from '../../controls/field.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { useOrganization } from '../../session/environment-context.tsx'

const DAY_MS = 86_400_000
const ROLES = ['viewer', 'developer', 'admin'] as const

interface CreateManagementKeyDialogProps {
  readonly onClose: () => void
  readonly onDone: (created: Resource<'NewManagementKey'>) => void
}

export function CreateManagementKeyDialog({ onClose, onDone }: CreateManagementKeyDialogProps) {
  const organization = useOrganization()
  // Sending the form again after a lost answer must not create a second key.
  const [idempotencyKey] = useState(() => crypto.getRandomValues(new Uint32Array(4)).join('-'))
  const form = useForm(data => {
    const days = Number(textOf(data, 'days'))
    const role = ROLES.find(role => role === textOf(data, 'role')) ?? 'viewer'
    return unwrap(
      api.POST('/v1/orgs/{orgId}/management-keys', {
        params: { path: { orgId: organization.id }, header: { 'Idempotency-Key': idempotencyKey } },
        body: {
          name: textOf(data, 'name'),
          role,
          ...(days > 0 ? { expires_at: new Date(Date.now() + days * DAY_MS).toISOString() } : {}),
        },
      }),
    )
  }, onDone)
  return (
    <Dialog title="Create a management key" onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <TextField label="Name" name="name" required problem={form.problemOf('name')} data-focus />
        <SelectField label="Role" name="role" defaultValue="developer" problem={form.problemOf('role')}>
          <option value="viewer">Viewer: reads</option>
          <option value="developer">Developer: also keys, providers, limits</option>
          <option value="admin">Admin: also projects, budgets, members</option>
        </SelectField>
        <SelectField label="Expires" name="days" defaultValue="90">
          <option value="30">in 30 days</option>
          <option value="90">in 90 days</option>
          <option value="365">in a year</option>
          <option value="0">never</option>
        </SelectField>
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
