import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, type Resource, unwrap } from '../../api/client.ts'
import { refreshWorkspace } from '../../api/refresh-workspace.ts'
import { useList } from '../../api/use-list.ts'
import { Button } from '../../controls/button.tsx'
import { EditForm } from '../../controls/edit-form.tsx'
import { EmptyState, ListState } from '../../controls/list-state.tsx'
import { MenuItem } from '../../controls/menu.tsx'
import { PageHeader } from '../../controls/page-header.tsx'
import { RowActions } from '../../controls/row-actions.tsx'
import { ScrollableTable } from '../../controls/scrollable-table.tsx'
import { TimeAgo } from '../../controls/time-ago.tsx'
import { useDisabledReason, useOrganization } from '../../session/environment-context.tsx'
import { getProject } from '../client-auth/client-auth-calls.ts'
import { DeleteProjectDialog } from './delete-project-dialog.tsx'
import { ProjectDialog } from './project-dialog.tsx'

type Project = Resource<'Project'>
type Open =
  | { readonly dialog: 'create' }
  | { readonly dialog: 'rename' | 'delete'; readonly project: Project }

export function ProjectsPage() {
  const organization = useOrganization()
  const disabledReason = useDisabledReason('admin')
  const client = useQueryClient()
  const [open, setOpen] = useState<Open>()
  const key = ['projects', organization.id]
  const projects = useList(key, cursor =>
    unwrap(
      api.GET('/v1/orgs/{orgId}/projects', {
        params: {
          path: { orgId: organization.id },
          query: cursor === undefined ? { limit: 100 } : { limit: 100, cursor },
        },
      }),
    ),
  )
  const close = (): void => setOpen(undefined)
  const refresh = (): void => {
    void client.invalidateQueries({ queryKey: key })
    void refreshWorkspace(client)
  }
  const createButton = (
    <Button variant="primary" disabledReason={disabledReason} onClick={() => setOpen({ dialog: 'create' })}>
      Create project
    </Button>
  )
  const count = projects.items.length
  return (
    <>
      <PageHeader
        title="Projects"
        description={
          projects.isSuccess
            ? `${count} ${count === 1 ? 'project' : 'projects'}, each with a development and a production environment.`
            : 'Each project has a development and a production environment.'
        }
        actions={createButton}
      />
      <ListState
        what="Projects"
        query={projects}
        empty={
          <EmptyState title="No projects yet">
            <p>
              A project has its own keys, providers, limits and users, once for development and once for
              production.
            </p>
            {createButton}
          </EmptyState>
        }
      >
        <ProjectTable projects={projects.items} disabledReason={disabledReason} onOpen={setOpen} />
      </ListState>
      {open?.dialog === 'create' && <ProjectDialog onClose={close} onDone={refresh} />}
      {open?.dialog === 'rename' && (
        <EditForm record={open.project} read={() => getProject(open.project.id)}>
          {project => <ProjectDialog current={project} onClose={close} onDone={refresh} />}
        </EditForm>
      )}
      {open?.dialog === 'delete' && (
        <DeleteProjectDialog target={open.project} onClose={close} onDone={refresh} />
      )}
    </>
  )
}

interface ProjectTableProps {
  readonly projects: readonly Project[]
  readonly disabledReason: string | undefined
  readonly onOpen: (open: Open) => void
}

function ProjectTable({ projects, disabledReason, onOpen }: ProjectTableProps) {
  const organization = useOrganization()
  return (
    <ScrollableTable label="Projects">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Environments</th>
          <th scope="col" className="wide-only">
            Slug
          </th>
          <th scope="col" className="wide-only">
            Created
          </th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {projects.map(project => (
          <tr key={project.id}>
            <td className="name">{project.name}</td>
            <td>
              <span className="row">
                {(['development', 'production'] as const).map(environment => (
                  <Link
                    key={environment}
                    className="text-link"
                    to="/o/$org/$project/$environment/overview"
                    params={{ org: organization.slug, project: project.slug, environment }}
                    aria-label={`${project.name}, ${environment}`}
                  >
                    {environment}
                  </Link>
                ))}
              </span>
            </td>
            <td className="wide-only">
              <code>{project.slug}</code>
            </td>
            <td className="wide-only">
              <TimeAgo at={project.created_at} timeZone={organization.time_zone} />
            </td>
            <td className="number">
              <Actions project={project} disabledReason={disabledReason} onOpen={onOpen} />
            </td>
          </tr>
        ))}
      </tbody>
    </ScrollableTable>
  )
}

interface ActionsProps {
  readonly project: Project
  readonly disabledReason: string | undefined
  readonly onOpen: (open: Open) => void
}

function Actions({ project, disabledReason, onOpen }: ActionsProps) {
  return (
    <RowActions name={project.name} disabledReason={disabledReason}>
      <MenuItem onSelect={() => onOpen({ dialog: 'rename', project })}>Rename…</MenuItem>
      <MenuItem isDanger onSelect={() => onOpen({ dialog: 'delete', project })}>
        Delete…
      </MenuItem>
    </RowActions>
  )
}
