import { api, type Resource, unwrap } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { TextField } from '../../controls/field.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { useOrganization } from '../../session/environment-context.tsx'
import { RoleField, toRole } from './role-field.tsx'

interface InviteDialogProps {
  readonly onClose: () => void
  readonly onDone: (invited: Resource<'InvitedMember'>) => void
}

export function InviteDialog({ onClose, onDone }: InviteDialogProps) {
  const organization = useOrganization()
  const form = useForm(
    data =>
      unwrap(
        api.POST('/v1/orgs/{orgId}/members', {
          params: { path: { orgId: organization.id } },
          body: { email: textOf(data, 'email'), role: toRole(textOf(data, 'role')) },
        }),
      ),
    onDone,
  )
  return (
    <Dialog title={`Invite to ${organization.name}`} onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <TextField
          label="E-mail"
          name="email"
          type="email"
          required
          hint="Rideau sends no mail: you get a link to pass on."
          problem={form.problemOf('email')}
          data-focus
        />
        <RoleField defaultRole="developer" problem={form.problemOf('role')} />
        <FormProblem error={form.error} />
        <div className="form-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isPending={form.isPending}>
            Create invitation
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
