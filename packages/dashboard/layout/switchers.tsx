import { useNavigate, useRouterState } from '@tanstack/react-router'
import { type Place, rememberPlace, toNames } from '../api/workspace.ts'
import { Button } from '../controls/button.tsx'
import { ChevronIcon } from '../controls/icons.tsx'
import { Menu, MenuItem, MenuLabel } from '../controls/menu.tsx'
import { useOrganization, usePlace, useWorkspace } from '../session/place-context.tsx'
import { PAGES } from './nav.tsx'

/** Parameters of an address that mean the same in every environment. Filters that name a key or an end user do not. */
const KEPT =
  /^(range|from|to|tz|by|stream|sandbox|min_cost_usd|min_latency_ms|(not\.)?(status|error_code|provider|model|endpoint)|metadata\..*)$/

/** Returns a function that opens the same page in another environment. */
function useSwitch(): (place: Place) => void {
  const navigate = useNavigate()
  const { pathname, search } = useRouterState({ select: state => state.location })
  return place => {
    rememberPlace(place)
    const [, , , , , page = ''] = pathname.split('/')
    const to = PAGES.find(each => each.to.endsWith(`/${page}`))?.to ?? PAGES[0].to
    const kept = Object.fromEntries(Object.entries(search).filter(([name]) => KEPT.test(name)))
    // The live tail is no filter.
    const leftOut = Object.keys(search).filter(name => !KEPT.test(name) && name !== 'tail')
    void navigate({ to, params: toNames(place), search: kept, state: { leftOut } })
  }
}

export function OrganizationSwitcher() {
  const workspace = useWorkspace()
  const here = useOrganization()
  const navigate = useNavigate()
  const open = useSwitch()
  return (
    <Menu
      trigger={
        <Button look="quiet" small className="switcher" aria-label={`Organization: ${here.name}`}>
          <span className="cut">{here.name}</span>
          <ChevronIcon />
        </Button>
      }
    >
      <MenuLabel>Organizations</MenuLabel>
      {workspace.organizations.map(organization => (
        <MenuItem
          key={organization.id}
          isCurrent={organization.id === here.id}
          onSelect={() => {
            const [project] = organization.projects
            const environment = project?.environments[0]
            if (project !== undefined && environment !== undefined)
              open({ organization, project, environment })
            else void navigate({ to: '/o/$org/projects', params: { org: organization.slug } })
          }}
        >
          <span className="cut">{organization.name}</span>
        </MenuItem>
      ))}
    </Menu>
  )
}

export function ProjectSwitcher() {
  const here = usePlace()
  const open = useSwitch()
  const { organization } = here
  return (
    <Menu
      trigger={
        <Button look="quiet" small className="switcher" aria-label={`Project: ${here.project.name}`}>
          <span className="cut">{here.project.name}</span>
          <ChevronIcon />
        </Button>
      }
    >
      <MenuLabel>Projects of {organization.name}</MenuLabel>
      {organization.projects.map(project => (
        <MenuItem
          key={project.id}
          isCurrent={project.id === here.project.id}
          onSelect={() => {
            const same = project.environments.find(({ name }) => name === here.environment.name)
            const environment = same ?? project.environments[0]
            if (environment !== undefined) open({ organization, project, environment })
          }}
        >
          <span className="cut">{project.name}</span>
        </MenuItem>
      ))}
    </Menu>
  )
}

/** Always visible. Production differs by fill, by a mark and by the word in capitals, not by colour alone. */
export function EnvironmentSwitcher() {
  const here = usePlace()
  const open = useSwitch()
  const isProduction = here.environment.name === 'production'
  return (
    <Menu
      trigger={
        <button
          type="button"
          className={`environment-chip${isProduction ? ' production' : ''}`}
          aria-label={`Environment: ${here.environment.name}`}
        >
          <span aria-hidden="true">{isProduction ? '■' : '○'}</span>
          {isProduction ? 'PRODUCTION' : 'Development'}
          <ChevronIcon />
        </button>
      }
    >
      <MenuLabel>Environments of {here.project.name}</MenuLabel>
      {here.project.environments.map(environment => (
        <MenuItem
          key={environment.id}
          isCurrent={environment.id === here.environment.id}
          onSelect={() => open({ ...here, environment })}
        >
          {environment.name === 'production' ? 'Production' : 'Development'}
        </MenuItem>
      ))}
    </Menu>
  )
}
