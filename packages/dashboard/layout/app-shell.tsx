import { Link, Outlet, useRouteContext } from '@tanstack/react-router'
import { Suspense, useCallback, useState } from 'react'
import { Button } from '../controls/button.tsx'
import { Logo, SearchIcon } from '../controls/icons.tsx'
import { useOptionalEnvironment } from '../session/environment-context.tsx'
import { SessionEndedDialog } from '../session/session-ended-dialog.tsx'
import { Nav } from './nav.tsx'
import { DroppedFilters, OfflineBanner, ProgressLine } from './status-lines.tsx'
import { EnvironmentSwitcher, OrganizationSwitcher, ProjectSwitcher } from './switchers.tsx'
import { useShortcuts } from './use-shortcuts.ts'
import { UserMenu } from './user-menu.tsx'

/** The header and the navigation around the pages of a signed-in user. `isProduction` marks the window for production. */
export function AppShell({ isProduction = false }: { isProduction?: boolean }) {
  const [isNavOpen, setNavOpen] = useState(false)
  const current = useOptionalEnvironment()
  const { CommandPalette, ShortcutHelp } = useRouteContext({ from: '__root__' })
  const [open, setOpen] = useState<'palette' | 'help'>()
  const openPalette = useCallback(() => setOpen('palette'), [])
  const openHelp = useCallback(() => setOpen('help'), [])
  const close = (): void => setOpen(undefined)
  useShortcuts({ openPalette, openHelp })
  return (
    <div className={`app-shell${isProduction ? ' production' : ''}`}>
      <a className="button skip" href="#content">
        Skip to content
      </a>
      <ProgressLine />
      <header className="top-bar">
        <Button
          variant="quiet"
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
        {current !== undefined && (
          <>
            <Divider />
            <ProjectSwitcher />
            <Divider />
            <EnvironmentSwitcher />
          </>
        )}
        <span className="end row">
          <Button small className="palette-button" onClick={openPalette} aria-keyshortcuts="Control+K">
            <SearchIcon />
            <span className="word">Search or jump</span>
          </Button>
          <UserMenu />
        </span>
      </header>
      <OfflineBanner />
      <Nav isOpen={isNavOpen} onNavigate={() => setNavOpen(false)} />
      <main className="content" id="content" tabIndex={-1}>
        <DroppedFilters />
        <div className="page">
          <Outlet />
        </div>
      </main>
      <Suspense>
        {open === 'palette' && <CommandPalette onClose={close} />}
        {open === 'help' && <ShortcutHelp onClose={close} />}
      </Suspense>
      <SessionEndedDialog />
    </div>
  )
}

function Divider() {
  return (
    <span className="divider" aria-hidden="true">
      /
    </span>
  )
}
