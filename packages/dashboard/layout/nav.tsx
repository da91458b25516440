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

/** The pages of an environment. `key` follows `g` as a shortcut; the search finds a page by its synonyms too. */
export const PAGES = [
  {
    name: 'Overview',
    to: '/o/$org/$project/$environment/overview',
    key: 'o',
    icon: <OverviewIcon />,
    synonyms: ['home', 'health', 'status', 'errors', 'circuits'],
  },
  {
    name: 'Logs',
    to: '/o/$org/$project/$environment/logs',
    key: 'l',
    icon: <LogsIcon />,
    synonyms: ['requests', 'traces', 'history', 'live tail', 'errors'],
  },
  {
    name: 'Usage',
    to: '/o/$org/$project/$environment/usage',
    key: 'u',
    icon: <UsageIcon />,
    synonyms: ['cost', 'spend', 'billing', 'tokens', 'forecast', 'export'],
  },
  {
    name: 'Playground',
    to: '/o/$org/$project/$environment/playground',
    key: 'p',
    icon: <PlaygroundIcon />,
    synonyms: ['chat', 'prompt', 'compare', 'try'],
  },
  {
    name: 'Keys',
    to: '/o/$org/$project/$environment/keys',
    key: 'k',
    icon: <KeyIcon />,
    synonyms: ['api keys', 'secret keys', 'publishable keys'],
    startsGroup: true,
  },
  {
    name: 'Limits',
    to: '/o/$org/$project/$environment/limits',
    key: 'i',
    icon: <LimitIcon />,
    synonyms: ['budget', 'quota', 'rate limit', 'spend', 'plans', 'concurrency'],
  },
  {
    name: 'End users',
    to: '/o/$org/$project/$environment/end-users',
    key: 'e',
    icon: <EndUserIcon />,
    synonyms: ['customers', 'block', 'plan'],
  },
  {
    name: 'Models',
    to: '/o/$org/$project/$environment/models',
    key: 'm',
    icon: <ModelIcon />,
    synonyms: ['aliases', 'fallback', 'routing', 'catalogue', 'prices'],
  },
  {
    name: 'Providers',
    to: '/o/$org/$project/$environment/providers',
    key: 'r',
    icon: <ProviderIcon />,
    synonyms: ['credentials', 'openai', 'anthropic', 'provider keys'],
  },
  {
    name: 'Client auth',
    to: '/o/$org/$project/$environment/client-auth',
    key: 'c',
    icon: <ClientAuthIcon />,
    synonyms: ['client tokens', 'identity provider', 'sdk', 'devices', 'app attest', 'cors', 'origins'],
  },
  {
    name: 'Environment settings',
    to: '/o/$org/$project/$environment/settings',
    key: 's',
    icon: <SettingsIcon />,
    synonyms: ['environment id', 'project id', 'log retention', 'allowed models'],
  },
] as const satisfies readonly {
  name: string
  to: string
  key: string
  icon: ReactNode
  synonyms: readonly string[]
  startsGroup?: boolean
}[]

/** The pages of an organization. */
export const ORGANIZATION_PAGES = [
  { name: 'Projects', to: '/o/$org/projects', icon: <ProjectsIcon />, synonyms: ['create project'] },
  {
    name: 'Members',
    to: '/o/$org/members',
    icon: <MembersIcon />,
    synonyms: ['team', 'colleagues', 'invite', 'roles', 'people'],
  },
  {
    name: 'Management keys',
    to: '/o/$org/management-keys',
    icon: <KeyIcon />,
    synonyms: ['api', 'terraform', 'automation'],
  },
  {
    name: 'Webhooks',
    to: '/o/$org/webhooks',
    icon: <WebhookIcon />,
    synonyms: ['events', 'alerts', 'notifications'],
  },
  {
    name: 'Audit log',
    to: '/o/$org/audit-log',
    icon: <AuditIcon />,
    synonyms: ['changes', 'history', 'who changed'],
  },
  {
    name: 'Organization settings',
    to: '/o/$org/settings',
    icon: <SettingsIcon />,
    synonyms: ['time zone', 'delete organization'],
  },
] as const satisfies readonly { name: string; to: string; icon: ReactNode; synonyms: readonly string[] }[]

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
