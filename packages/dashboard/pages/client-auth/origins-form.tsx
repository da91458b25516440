import { useQueryClient } from '@tanstack/react-query'
import { api, type Resource, unwrap } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { TextAreaField } from '../../controls/field.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { useDisabledReason } from '../../session/environment-context.tsx'
import { projectQuery, toLines } from './client-auth-calls.ts'

/** The browser origins that client tokens may be used from. */
export function OriginsForm({ project }: { project: Resource<'Project'> }) {
  const disabledReason = useDisabledReason('admin')
  const client = useQueryClient()
  const form = useForm(
    (data, header) =>
      unwrap(
        api.PATCH('/v1/projects/{projectId}', {
          params: { path: { projectId: project.id }, header },
          body: { allowed_origins: toLines(textOf(data, 'allowed_origins')) },
        }),
      ),
    stored => client.setQueryData(projectQuery(project.id).queryKey, stored),
  )
  const problem = form.error?.param?.startsWith('allowed_origins') ? form.error.message : undefined
  return (
    <form className="form" onSubmit={form.onSubmit}>
      <TextAreaField
        label="Origins, one per line"
        name="allowed_origins"
        rows={3}
        readOnly={disabledReason !== undefined}
        defaultValue={project.allowed_origins.join('\n')}
        placeholder="https://app.example.com"
        hint="Without an origin, no browser may call the gateway. Native apps send no origin and need none."
        problem={problem}
      />
      {problem === undefined && <FormProblem error={form.error} />}
      <div className="row">
        <Button type="submit" isPending={form.isPending} disabledReason={disabledReason}>
          Save origins
        </Button>
        <span role="status" className="muted">
          {form.isSaved ? 'Saved.' : ''}
        </span>
      </div>
    </form>
  )
}
