import { api, type Resource, unwrap } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { RoleField, toRole } from './role-field.tsx'

interface RoleDialogProps {
  readonly member: Resource<'Member'>
  readonly onClose: () => void
  readonly onDone: () => void
}

export function RoleDialog({ member, onClose, onDone }: RoleDialogProps) {
  const form = useForm(
    (data, header) =>
      unwrap(
        api.PATCH('/v1/members/{memberId}', {
          params: { path: { memberId: member.id }, header },
          body: { role: toRole(textOf(data, 'role')) },
        }),
      ),
    () => {
      onDone()
      onClose()
    },
  )
  return (
    <Dialog title={`Role of ${member.user?.name ?? member.user?.email ?? ''}`} onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <RoleField defaultRole={member.role} problem={form.problemOf('role')} />
        <p className="muted">Takes effect with their next call.</p>
        <FormProblem error={form.error} />
        <div className="form-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isPending={form.isPending}>
            Save role
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
