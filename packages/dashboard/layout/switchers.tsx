import { useNavigate, useRouterState } from '@tanstack/react-router'
import { type ProjectEnvironment, rememberEnvironment, toParams } from '../api/workspace.ts'
import { Button } from '../controls/button.tsx'
import { ChevronIcon } from '../controls/icons.tsx'
import { Menu, MenuItem, MenuLabel } from '../controls/menu.tsx'
import { useEnvironment, useOrganization, useWorkspace } from '../session/environment-context.tsx'
import { PAGES } from './nav.tsx'

/** Parameters of an address that mean the same in every environment. Filters that name a key or an end user do not. */
const SHARED_PARAMETERS =
  /^(range|from|to|tz|by|stream|sandbox|min_cost_usd|min_latency_ms|(not\.)?(status|error_code|provider|model|endpoint)|metadata\..*)$/

/** Returns a function that opens the same page in another environment. */
function useSwitch(): (target: ProjectEnvironment) => void {
  const navigate = useNavigate()
  const { pathname, search } = useRouterState({ select: state => state.location })
  return target => {
    rememberEnvironment(target)
    const [, , , , , page = ''] = pathname.split('/')
    const to = PAGES.find(candidate => candidate.to.endsWith(`/${page}`))?.to ?? PAGES[0].to
    const kept = Object.fromEntries(Object.entries(search).filter(([name]) => SHARED_PARAMETERS.test(name)))
    // The live tail is not a filter, so it is dropped without a notice.
    const droppedFilters = Object.keys(search).filter(
      name => !SHARED_PARAMETERS.test(name) && name !== 'tail',
    )
    void navigate({ to, params: toParams(target), search: kept, state: { droppedFilters } })
  }
}

export function OrganizationSwitcher() {
  const workspace = useWorkspace()
  const current = useOrganization()
  const navigate = useNavigate()
  const open = useSwitch()
  return (
    <Menu
      trigger={
        <Button variant="quiet" small className="switcher" aria-label={`Organization: ${current.name}`}>
          <span className="truncate">{current.name}</span>
          <ChevronIcon />
        </Button>
      }
    >
      <MenuLabel>Organizations</MenuLabel>
      {workspace.organizations.map(organization => (
        <MenuItem
          key={organization.id}
          isCurrent={organization.id === current.id}
          onSelect={() => {
            const [project] = organization.projects
            const environment = project?.environments[0]
            if (project !== undefined && environment !== undefined)
              open({ organization, project, environment })
            else void navigate({ to: '/o/$org/projects', params: { org: organization.slug } })
          }}
        >
          <span className="truncate">{organization.name}</span>
        </MenuItem>
      ))}
    </Menu>
  )
}

export function ProjectSwitcher() {
  const current = useEnvironment()
  const open = useSwitch()
  const { organization } = current
  return (
    <Menu
      trigger={
        <Button variant="quiet" small className="switcher" aria-label={`Project: ${current.project.name}`}>
          <span className="truncate">{current.project.name}</span>
          <ChevronIcon />
        </Button>
      }
    >
      <MenuLabel>Projects of {organization.name}</MenuLabel>
      {organization.projects.map(project => (
        <MenuItem
          key={project.id}
          isCurrent={project.id === current.project.id}
          onSelect={() => {
            const same = project.environments.find(({ name }) => name === current.environment.name)
            const environment = same ?? project.environments[0]
            if (environment !== undefined) open({ organization, project, environment })
          }}
        >
          <span className="truncate">{project.name}</span>
        </MenuItem>
      ))}
    </Menu>
  )
}

/** Is always visible. Production differs by fill, mark and capitals, not by colour alone. */
export function EnvironmentSwitcher() {
  const current = useEnvironment()
  const open = useSwitch()
  const isProduction = current.environment.name === 'production'
  return (
    <Menu
      trigger={
        <button
          type="button"
          className={`environment-chip${isProduction ? ' production' : ''}`}
          aria-label={`Environment: ${current.environment.name}`}
        >
          <span aria-hidden="true">{isProduction ? '■' : '○'}</span>
          {isProduction ? 'PRODUCTION' : 'Development'}
          <ChevronIcon />
        </button>
      }
    >
      <MenuLabel>Environments of {current.project.name}</MenuLabel>
      {current.project.environments.map(environment => (
        <MenuItem
          key={environment.id}
          isCurrent={environment.id === current.environment.id}
          onSelect={() => open({ ...current, environment })}
        >
          {environment.name === 'production' ? 'Production' : 'Development'}
        </MenuItem>
      ))}
    </Menu>
  )
}
