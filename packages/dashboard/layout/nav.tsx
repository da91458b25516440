import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { toNames } from '../api/workspace.ts'
import { KeyIcon, LogsIcon, OverviewIcon, PlaygroundIcon, ProviderIcon } from '../controls/icons.tsx'
import { usePlace } from '../session/place-context.tsx'

/** The pages of an environment. `key` follows `g` as a shortcut. */
export const PAGES = [
  { name: 'Overview', to: '/o/$org/$project/$environment/overview', key: 'o', icon: <OverviewIcon /> },
  { name: 'Logs', to: '/o/$org/$project/$environment/logs', key: 'l', icon: <LogsIcon /> },
  { name: 'Playground', to: '/o/$org/$project/$environment/playground', key: 'p', icon: <PlaygroundIcon /> },
  { name: 'Keys', to: '/o/$org/$project/$environment/keys', key: 'k', icon: <KeyIcon />, isApart: true },
  { name: 'Providers', to: '/o/$org/$project/$environment/providers', key: 'r', icon: <ProviderIcon /> },
] as const satisfies readonly {
  name: string
  to: string
  key: string
  icon: ReactNode
  isApart?: boolean
}[]

export function Nav({ isOpen, onFollow }: { isOpen: boolean; onFollow: () => void }) {
  const names = toNames(usePlace())
  return (
    <nav className={`side${isOpen ? ' open' : ''}`} aria-label="Pages" id="pages">
      <ul>
        {PAGES.map(page => (
          <li key={page.name} className={'isApart' in page ? 'apart' : undefined}>
            <Link className="side-link" to={page.to} params={names} onClick={onFollow}>
              {page.icon}
              {page.name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
