import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type EnvironmentParams, toParams } from '../api/workspace.ts'
import {
  AuditIcon,
  ClientAuthIcon,
  EndUserIcon,
  KeyIcon,
  LimitIcon,
  LogsIcon,
  MembersIcon,
  ModelIcon,
  OverviewIcon,
  PlaygroundIcon,
  ProjectsIcon,
  ProviderIcon,
  SettingsIcon,
  UsageIcon,
  WebhookIcon,
} from '../controls/icons.tsx'
import { useOptionalEnvironment, useOrganization } from '../session/environment-context.tsx'

/** The pages of an environment. `key` follows `g` as a shortcut. */
export const PAGES = [
  { name: 'Overview', to: '/o/$org/$project/$environment/overview', key: 'o', icon: <OverviewIcon /> },
  { name: 'Logs', to: '/o/$org/$project/$environment/logs', key: 'l', icon: <LogsIcon /> },
  { name: 'Usage', to: '/o/$org/$project/$environment/usage', key: 'u', icon: <UsageIcon /> },
  { name: 'Playground', to: '/o/$org/$project/$environment/playground', key: 'p', icon: <PlaygroundIcon /> },
  { name: 'Keys', to: '/o/$org/$project/$environment/keys', key: 'k', icon: <KeyIcon />, startsGroup: true },
  { name: 'Limits', to: '/o/$org/$project/$environment/limits', key: 'i', icon: <LimitIcon /> },
  { name: 'End users', to: '/o/$org/$project/$environment/end-users', key: 'e', icon: <EndUserIcon /> },
  { name: 'Models', to: '/o/$org/$project/$environment/models', key: 'm', icon: <ModelIcon /> },
  { name: 'Providers', to: '/o/$org/$project/$environment/providers', key: 'r', icon: <ProviderIcon /> },
  {
    name: 'Client auth',
    to: '/o/$org/$project/$environment/client-auth',
    key: 'c',
    icon: <ClientAuthIcon />,
  },
  {
    name: 'Environment settings',
    to: '/o/$org/$project/$environment/settings',
    key: 's',
    icon: <SettingsIcon />,
  },
] as const satisfies readonly {
  name: string
  to: string
  key: string
  icon: ReactNode
  startsGroup?: boolean
}[]

/** The pages of an organization. */
export const ORGANIZATION_PAGES = [
  { name: 'Projects', to: '/o/$org/projects', icon: <ProjectsIcon /> },
  { name: 'Members', to: '/o/$org/members', icon: <MembersIcon /> },
  { name: 'Management keys', to: '/o/$org/management-keys', icon: <KeyIcon /> },
  { name: 'Webhooks', to: '/o/$org/webhooks', icon: <WebhookIcon /> },
  { name: 'Audit log', to: '/o/$org/audit-log', icon: <AuditIcon /> },
  { name: 'Organization settings', to: '/o/$org/settings', icon: <SettingsIcon /> },
] as const satisfies readonly { name: string; to: string; icon: ReactNode }[]

export function Nav({ isOpen, onNavigate }: { isOpen: boolean; onNavigate: () => void }) {
  const current = useOptionalEnvironment()
  const org = useOrganization().slug
  return (
    <nav className={`sidebar${isOpen ? ' open' : ''}`} aria-label="Pages" id="pages">
      {current !== undefined && <EnvironmentLinks params={toParams(current)} onNavigate={onNavigate} />}
      <p className="sidebar-title" id="organization-pages">
        Organization
      </p>
      <ul aria-labelledby="organization-pages">
        {ORGANIZATION_PAGES.map(page => (
          <li key={page.name}>
            <Link className="sidebar-link" to={page.to} params={{ org }} onClick={onNavigate}>
              {page.icon}
              {page.name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}

function EnvironmentLinks({ params, onNavigate }: { params: EnvironmentParams; onNavigate: () => void }) {
  return (
    <ul>
      {PAGES.map(page => (
        <li key={page.name} className={'startsGroup' in page ? 'group-start' : undefined}>
          <Link className="sidebar-link" to={page.to} params={params} onClick={onNavigate}>
            {page.icon}
            {page.name}
          </Link>
        </li>
      ))}
    </ul>
  )
}
