import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { toNames } from '../api/workspace.ts'
import {
  EndUserIcon,
  KeyIcon,
  LimitIcon,
  LogsIcon,
  ModelIcon,
  OverviewIcon,
  PlaygroundIcon,
  ProviderIcon,
  UsageIcon,
} from '../controls/icons.tsx'
import { usePlace } from '../session/place-context.tsx'

/** The pages of an environment. `key` follows `g` as a shortcut. */
export const PAGES = [
  { name: 'Overview', to: '/o/$org/$project/$environment/overview', key: 'o', icon: <OverviewIcon /> },
  { name: 'Logs', to: '/o/$org/$project/$environment/logs', key: 'l', icon: <LogsIcon /> },
  { name: 'Usage', to: '/o/$org/$project/$environment/usage', key: 'u', icon: <UsageIcon /> },
  { name: 'Playground', to: '/o/$org/$project/$environment/playground', key: 'p', icon: <PlaygroundIcon /> },
  { name: 'Keys', to: '/o/$org/$project/$environment/keys', key: 'k', icon: <KeyIcon />, isApart: true },
  { name: 'Limits', to: '/o/$org/$project/$environment/limits', key: 'i', icon: <LimitIcon /> },
  { name: 'End users', to: '/o/$org/$project/$environment/end-users', key: 'e', icon: <EndUserIcon /> },
  { name: 'Models', to: '/o/$org/$project/$environment/models', key: 'm', icon: <ModelIcon /> },
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
