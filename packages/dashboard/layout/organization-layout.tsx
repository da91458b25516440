import { Link, useParams } from '@tanstack/react-router'
import { findDefaultEnvironment, findOrganization, type Organization } from '../api/workspace.ts'
import { EnvironmentContext, OrganizationContext, useWorkspace } from '../session/environment-context.tsx'
import { AppShell } from './app-shell.tsx'
import { CardLayout } from './card-layout.tsx'

/** Shows an organization's own pages in the AppShell, with the environment that was open last. */
export function OrganizationLayout() {
  const { org } = useParams({ from: '/signed-in/o/$org' })
  const workspace = useWorkspace()
  const organization = findOrganization(workspace, org)
  if (organization === undefined) {
    return (
      <CardLayout title="Not found" text="This organization does not exist, or you may not see it.">
        <Link className="button primary" to="/">
          Go to your environments
        </Link>
      </CardLayout>
    )
  }
  const current = findDefaultEnvironment({ ...workspace, organizations: [organization] as Organization[] })
  return (
    <OrganizationContext value={organization}>
      <EnvironmentContext value={current}>
        <AppShell key={organization.id} isProduction={current?.environment.name === 'production'} />
      </EnvironmentContext>
    </OrganizationContext>
  )
}
