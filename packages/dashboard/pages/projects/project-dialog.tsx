import { api, type Resource, unwrap } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { TextField } from '../../controls/field.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { useOrganization } from '../../session/environment-context.tsx'

interface ProjectDialogProps {
  /** The project to change. Without it, one is created. */
  readonly current?: Resource<'Project'>
  readonly onClose: () => void
  readonly onDone: () => void
}

export function ProjectDialog({ current, onClose, onDone }: ProjectDialogProps) {
  const organization = useOrganization()
  const form = useForm(
    (data, header) => {
      const slug = textOf(data, 'slug')
      const body = { name: textOf(data, 'name'), ...(slug === '' ? {} : { slug }) }
      return current === undefined
        ? unwrap(
            api.POST('/v1/orgs/{orgId}/projects', { params: { path: { orgId: organization.id } }, body }),
          )
        : unwrap(
            api.PATCH('/v1/projects/{projectId}', {
              params: { path: { projectId: current.id }, header },
              body,
            }),
          )
    },
    () => {
      onDone()
      onClose()
    },
  )
  return (
    <Dialog title={current === undefined ? 'Create a project' : `Rename ${current.name}`} onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <TextField
          label="Name"
          name="name"
          required
          maxLength={200}
          defaultValue={current?.name}
          problem={form.problemOf('name')}
          data-focus
        />
        <TextField
          label="Slug"
          name="slug"
          isOptional={current === undefined}
          maxLength={48}
          defaultValue={current?.slug}
          hint={
            current === undefined
              ? 'Its name in addresses. Made from the name if you leave it empty.'
              : 'Dashboard addresses with the old slug stop working. Keys keep working.'
          }
          problem={form.problemOf('slug')}
        />
        <FormProblem error={form.error} />
        <div className="form-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isPending={form.isPending}>
            {current === undefined ? 'Create project' : 'Save'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
