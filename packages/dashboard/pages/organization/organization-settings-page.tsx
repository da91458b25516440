import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, type Resource, unwrap } from '../../api/client.ts'
import { refreshWorkspace } from '../../api/refresh-workspace.ts'
import { Button } from '../../controls/button.tsx'
import { ConfirmDialog } from '../../controls/confirm-dialog.tsx'
import { EditForm } from '../../controls/edit-form.tsx'
import { ErrorPanel, FormProblem } from '../../controls/error-panel.tsx'
import { TextField } from '../../controls/field.tsx'
import { PageHeader } from '../../controls/page-header.tsx'
import { Skeleton } from '../../controls/skeleton.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { useDisabledReason, useOrganization } from '../../session/environment-context.tsx'

const ZONES = Intl.supportedValuesOf('timeZone')

export function OrganizationSettingsPage() {
  const organization = useOrganization()
  const path = { orgId: organization.id }
  const read = () => unwrap(api.GET('/v1/orgs/{orgId}', { params: { path } }))
  const stored = useQuery({ queryKey: ['organization', organization.id], queryFn: read })
  return (
    <>
      <PageHeader
        title="Organization settings"
        description={`${countProjects(organization.projects.length)}. Your role is ${organization.role}.`}
      />
      {stored.isPending && <Skeleton rows={5} />}
      {stored.isError && (
        <ErrorPanel what="Settings" error={stored.error} onRetry={() => void stored.refetch()} />
      )}
      {stored.isSuccess && (
        <EditForm key={organization.id} record={stored.data} read={read}>
          {begun => <SettingsForm organization={begun} />}
        </EditForm>
      )}
      <Deletion />
    </>
  )
}

function SettingsForm({ organization }: { organization: Resource<'Organization'> }) {
  const disabledReason = useDisabledReason('admin')
  const client = useQueryClient()
  const navigate = useNavigate()
  const form = useForm(
    (data, header) =>
      unwrap(
        api.PATCH('/v1/orgs/{orgId}', {
          params: { path: { orgId: organization.id }, header },
          body: {
            name: textOf(data, 'name'),
            slug: textOf(data, 'slug'),
            time_zone: textOf(data, 'time_zone'),
          },
        }),
      ),
    async stored => {
      const { slug } = stored
      client.setQueryData(['organization', organization.id], stored)
      await refreshWorkspace(client)
      void navigate({ to: '/o/$org/settings', params: { org: slug }, replace: true })
    },
  )
  const isReadOnly = disabledReason !== undefined
  return (
    <section className="panel padded narrow" aria-label="Settings">
      <form className="form" onSubmit={form.onSubmit}>
        <TextField
          label="Name"
          name="name"
          required
          readOnly={isReadOnly}
          defaultValue={organization.name}
          problem={form.problemOf('name')}
        />
        <TextField
          label="Slug"
          name="slug"
          required
          readOnly={isReadOnly}
          defaultValue={organization.slug}
          hint="Its name in the addresses of the dashboard."
          problem={form.problemOf('slug')}
        />
        <TextField
          label="Time zone"
          name="time_zone"
          required
          readOnly={isReadOnly}
          list="time-zones"
          defaultValue={organization.time_zone}
          hint="Decides when a day begins for budgets, quotas and charts."
          problem={form.problemOf('time_zone')}
        />
        <datalist id="time-zones">
          {['UTC', ...ZONES].map(zone => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
        <FormProblem error={form.error} />
        <div className="row">
          <Button type="submit" variant="primary" isPending={form.isPending} disabledReason={disabledReason}>
            Save
          </Button>
          <span role="status" className="muted">
            {form.isSaved ? 'Saved.' : ''}
          </span>
        </div>
      </form>
    </section>
  )
}

function Deletion() {
  const organization = useOrganization()
  const disabledReason = useDisabledReason('owner')
  const [isDeleting, setDeleting] = useState(false)
  return (
    <>
      <section className="panel padded narrow stack" aria-labelledby="delete-organization">
        <h2 id="delete-organization">Delete the organization</h2>
        <p>Every key of every project stops working at once. This cannot be undone.</p>
        <div>
          <Button variant="danger" disabledReason={disabledReason} onClick={() => setDeleting(true)}>
            Delete organization
          </Button>
        </div>
      </section>
      {isDeleting && (
        <ConfirmDialog
          title={`Delete ${organization.name}`}
          name={organization.name}
          action="Delete organization"
          send={() =>
            unwrap(api.DELETE('/v1/orgs/{orgId}', { params: { path: { orgId: organization.id } } }))
          }
          // A full page load, so that nothing of the organization stays in memory.
          onDone={() => location.assign('/')}
          onClose={() => setDeleting(false)}
        >
          <p>
            {countProjects(organization.projects.length)} and all their keys and tokens are deleted, for every
            member.
          </p>
        </ConfirmDialog>
      )}
    </>
  )
}

function countProjects(count: number): string {
  return `${count} ${count === 1 ? 'project' : 'projects'}`
}
