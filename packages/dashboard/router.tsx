import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { type ComponentType, lazy } from 'react'
import { isSignedOut } from './api/api-error.ts'
import { findDefaultEnvironment, toParams, workspaceQuery } from './api/workspace.ts'
import { parseSearchText, toSearchText } from './format/search-text.ts'
import { EnvironmentLayout } from './layout/environment-layout.tsx'
import { ErrorPage, NoEnvironmentPage, NotFoundPage } from './layout/fallback-pages.tsx'
import { OrganizationLayout } from './layout/organization-layout.tsx'
import { AcceptInvitationPage } from './pages/accept-invitation/accept-invitation-page.tsx'
import { parseAuditSearch } from './pages/audit-log/audit-search.ts'
import { parseLogSearch } from './pages/logs/log-search.ts'
import { ResetPasswordPage } from './pages/reset-password/reset-password-page.tsx'
import { SetupPage } from './pages/setup/setup-page.tsx'
import { SignInPage } from './pages/sign-in/sign-in-page.tsx'
import { parseUsageSearch } from './pages/usage/usage-search.ts'
import { toSafeReturn } from './session/safe-return.ts'

/** Parts of the AppShell that are loaded when they are opened. */
interface LazyComponents {
  readonly CommandPalette: ComponentType<{ onClose: () => void }>
  readonly ShortcutHelp: ComponentType<{ onClose: () => void }>
}

export interface RouterContext {
  readonly client: QueryClient
  /** The one-time token of the link by which the page was opened. */
  readonly linkToken: string | undefined
}

const playgroundPage = lazyRouteComponent(
  () => import('./pages/playground/playground-page.tsx'),
  'PlaygroundPage',
)

const lazyComponents: LazyComponents = {
  CommandPalette: lazy(async () => {
    const { CommandPalette } = await import('./palette/command-palette.tsx')
    return { default: CommandPalette }
  }),
  ShortcutHelp: lazy(async () => {
    const { ShortcutHelp } = await import('./palette/shortcut-help.tsx')
    return { default: ShortcutHelp }
  }),
}

const root = createRootRouteWithContext<RouterContext & LazyComponents>()({
  component: Outlet,
  notFoundComponent: NotFoundPage,
  errorComponent: ErrorPage,
})

const setup = createRoute({
  getParentRoute: () => root,
  path: '/setup',
  component: SetupPage,
  // Loads the page that follows while the form is filled in.
  loader: () => void playgroundPage.preload?.(),
})
const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: SignInPage,
  validateSearch: ({ next }: Record<string, unknown>): { next?: string } =>
    next === undefined ? {} : { next: toSafeReturn(next) },
})
const acceptInvitation = createRoute({
  getParentRoute: () => root,
  path: '/accept-invitation',
  component: AcceptInvitationPage,
})
const resetPassword = createRoute({
  getParentRoute: () => root,
  path: '/reset-password',
  component: ResetPasswordPage,
})

const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  beforeLoad: async ({ context, location }) => {
    try {
      await context.client.ensureQueryData(workspaceQuery)
    } catch (error) {
      if (!isSignedOut(error)) throw error
      throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { next: location.href } })
    }
  },
})

const home = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  component: NoEnvironmentPage,
  beforeLoad: async ({ context }) => {
    const current = findDefaultEnvironment(await context.client.ensureQueryData(workspaceQuery))
    if (current === undefined) return
    throw redirect({
      to: '/o/$org/$project/$environment/overview',
      params: toParams(current),
      replace: true,
    })
  },
})

const environment = createRoute({
  getParentRoute: () => signedIn,
  path: '/o/$org/$project/$environment',
  component: EnvironmentLayout,
})
const environmentHome = createRoute({
  getParentRoute: () => environment,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/o/$org/$project/$environment/overview', params, replace: true })
  },
})
const overview = createRoute({
  getParentRoute: () => environment,
  path: '/overview',
  validateSearch: ({ range }: Record<string, unknown>): { range?: '24h' | '7d' | '30d' } =>
    range === '24h' || range === '7d' || range === '30d' ? { range } : {},
  component: lazyRouteComponent(() => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
})
const logs = createRoute({
  getParentRoute: () => environment,
  path: '/logs',
  validateSearch: parseLogSearch,
  component: lazyRouteComponent(() => import('./pages/logs/logs-page.tsx'), 'LogsPage'),
})
const request = createRoute({
  getParentRoute: () => environment,
  path: '/logs/$requestId',
  component: lazyRouteComponent(() => import('./pages/logs/request-page.tsx'), 'RequestPage'),
})
const playground = createRoute({
  getParentRoute: () => environment,
  path: '/playground',
  component: playgroundPage,
})
const keys = createRoute({
  getParentRoute: () => environment,
  path: '/keys',
  component: lazyRouteComponent(() => import('./pages/keys/keys-page.tsx'), 'KeysPage'),
})
const key = createRoute({
  getParentRoute: () => environment,
  path: '/keys/$keyId',
  component: lazyRouteComponent(() => import('./pages/keys/key-page.tsx'), 'KeyPage'),
})
const providers = createRoute({
  getParentRoute: () => environment,
  path: '/providers',
  component: lazyRouteComponent(() => import('./pages/providers/providers-page.tsx'), 'ProvidersPage'),
})
const usage = createRoute({
  getParentRoute: () => environment,
  path: '/usage',
  validateSearch: parseUsageSearch,
  component: lazyRouteComponent(() => import('./pages/usage/usage-page.tsx'), 'UsagePage'),
})
const models = createRoute({
  getParentRoute: () => environment,
  path: '/models',
  validateSearch: ({ q, can }: Record<string, unknown>): { q?: string; can?: string } => ({
    ...(typeof q === 'string' && q !== '' && q.length <= 200 ? { q } : {}),
    ...(typeof can === 'string' && /^[a-z_]{1,64}$/.test(can) ? { can } : {}),
  }),
  component: lazyRouteComponent(() => import('./pages/models/models-page.tsx'), 'ModelsPage'),
})
const limits = createRoute({
  getParentRoute: () => environment,
  path: '/limits',
  component: lazyRouteComponent(() => import('./pages/limits/limits-page.tsx'), 'LimitsPage'),
})
const endUsers = createRoute({
  getParentRoute: () => environment,
  path: '/end-users',
  validateSearch: ({ q, blocked }: Record<string, unknown>): { q?: string; blocked?: 'true' } => ({
    ...(typeof q === 'string' && q !== '' && q.length <= 255 ? { q } : {}),
    ...(blocked === 'true' ? { blocked } : {}),
  }),
  component: lazyRouteComponent(() => import('./pages/end-users/end-users-page.tsx'), 'EndUsersPage'),
})
const endUser = createRoute({
  getParentRoute: () => environment,
  path: '/end-users/$endUserId',
  // With the app's own id of the end user in the address, the page can send all its calls at once.
  validateSearch: ({ name }: Record<string, unknown>): { name?: string } =>
    typeof name === 'string' && name !== '' && name.length <= 255 ? { name } : {},
  component: lazyRouteComponent(() => import('./pages/end-users/end-user-page.tsx'), 'EndUserPage'),
})
const clientAuth = createRoute({
  getParentRoute: () => environment,
  path: '/client-auth',
  component: lazyRouteComponent(() => import('./pages/client-auth/client-auth-page.tsx'), 'ClientAuthPage'),
})
const environmentSettings = createRoute({
  getParentRoute: () => environment,
  path: '/settings',
  component: lazyRouteComponent(
    () => import('./pages/environment-settings/environment-settings-page.tsx'),
    'EnvironmentSettingsPage',
  ),
})

const organization = createRoute({
  getParentRoute: () => signedIn,
  path: '/o/$org',
  component: OrganizationLayout,
})
const organizationHome = createRoute({
  getParentRoute: () => organization,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/o/$org/projects', params, replace: true })
  },
})
const projects = createRoute({
  getParentRoute: () => organization,
  path: '/projects',
  component: lazyRouteComponent(() => import('./pages/projects/projects-page.tsx'), 'ProjectsPage'),
})
const members = createRoute({
  getParentRoute: () => organization,
  path: '/members',
  component: lazyRouteComponent(() => import('./pages/members/members-page.tsx'), 'MembersPage'),
})
const managementKeys = createRoute({
  getParentRoute: () => organization,
  path: '/management-keys',
  component: lazyRouteComponent(
    () => import('./pages/management-keys/management-keys-page.tsx'),
    'ManagementKeysPage',
  ),
})
const webhooks = createRoute({
  getParentRoute: () => organization,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('./pages/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
})
const auditLog = createRoute({
  getParentRoute: () => organization,
  path: '/audit-log',
  validateSearch: parseAuditSearch,
  component: lazyRouteComponent(() => import('./pages/audit-log/audit-log-page.tsx'), 'AuditLogPage'),
})
const organizationSettings = createRoute({
  getParentRoute: () => organization,
  path: '/settings',
  component: lazyRouteComponent(
    () => import('./pages/organization/organization-settings-page.tsx'),
    'OrganizationSettingsPage',
  ),
})
const account = createRoute({
  getParentRoute: () => signedIn,
  path: '/account',
  component: lazyRouteComponent(() => import('./pages/account/account-page.tsx'), 'AccountPage'),
})

const routes = root.addChildren([
  setup,
  signIn,
  acceptInvitation,
  resetPassword,
  signedIn.addChildren([
    home,
    account,
    environment.addChildren([
      environmentHome,
      overview,
      logs,
      request,
      playground,
      keys,
      key,
      providers,
      usage,
      models,
      limits,
      endUsers,
      endUser,
      clientAuth,
      environmentSettings,
    ]),
    organization.addChildren([
      organizationHome,
      projects,
      members,
      managementKeys,
      webhooks,
      auditLog,
      organizationSettings,
    ]),
  ]),
])

export function createPages(context: RouterContext) {
  return createRouter({
    routeTree: routes,
    context: { client: context.client, linkToken: context.linkToken, ...lazyComponents },
    // Loads the code of a page when a link to it is hovered or focused.
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    // A page gets only the parameters that its validateSearch returns.
    search: { strict: true },
    // Values are plain text, as in the API's queries; the router's default would write JSON.
    parseSearch: parseSearchText,
    stringifySearch: search => {
      const text = toSearchText(search)
      return text === '' ? '' : `?${text}`
    },
    scrollRestoration: true,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createPages>
  }
}
