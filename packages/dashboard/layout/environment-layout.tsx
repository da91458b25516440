import { Link, Outlet, useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { findPlace, rememberPlace } from '../api/workspace.ts'
import { Button } from '../controls/button.tsx'
import { Logo } from '../controls/icons.tsx'
import { PlaceContext, useWorkspace } from '../session/place-context.tsx'
import { SessionEndedDialog } from '../session/session-ended-dialog.tsx'
import { Door } from './door.tsx'
import { Nav } from './nav.tsx'
import { ConnectionBar, ProgressLine } from './status-lines.tsx'
import { EnvironmentSwitcher, OrganizationSwitcher, ProjectSwitcher } from './switchers.tsx'
import { useShortcuts } from './use-shortcuts.ts'
import { UserMenu } from './user-menu.tsx'

/** Finds the environment that the address names, and puts its pages into the frame. */
export function EnvironmentLayout() {
  const names = useParams({ from: '/signed-in/o/$org/$project/$environment' })
  const place = findPlace(useWorkspace(), names)
  useEffect(() => {
    if (place !== undefined) rememberPlace(place)
  }, [place])
  if (place === undefined) {
    return (
      <Door title="Nothing here" text="There is nothing by this name, or you may not see it.">
        <Link className="button primary" to="/">
          Go to your environments
        </Link>
      </Door>
    )
  }
  return (
    <PlaceContext value={place}>
      {/* The key makes every page start anew in another environment. */}
      <Frame key={place.environment.id} isProduction={place.environment.name === 'production'} />
    </PlaceContext>
  )
}

function Frame({ isProduction }: { isProduction: boolean }) {
  const [isNavOpen, setNavOpen] = useState(false)
  useShortcuts()
  return (
    <div className={`frame${isProduction ? ' production' : ''}`}>
      <a className="button skip" href="#content">
        Skip to content
      </a>
      <ProgressLine />
      <header className="top">
        <Button
          look="quiet"
          small
          className="menu-button"
          aria-expanded={isNavOpen}
          aria-controls="pages"
          onClick={() => setNavOpen(!isNavOpen)}
        >
          Menu
        </Button>
        <Link to="/" className="logo" aria-label="Rideau, start">
          <Logo />
        </Link>
        <OrganizationSwitcher />
        <span className="divider" aria-hidden="true">
          /
        </span>
        <ProjectSwitcher />
        <span className="divider" aria-hidden="true">
          /
        </span>
        <EnvironmentSwitcher />
        <span className="end">
          <UserMenu />
        </span>
      </header>
      <ConnectionBar />
      <Nav isOpen={isNavOpen} onFollow={() => setNavOpen(false)} />
      <main className="content" id="content" tabIndex={-1}>
        <div className="page">
          <Outlet />
        </div>
      </main>
      <SessionEndedDialog />
    </div>
  )
}
