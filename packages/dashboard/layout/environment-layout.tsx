import { Link, useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { findEnvironment, rememberEnvironment } from '../api/workspace.ts'
import { EnvironmentContext, OrganizationContext, useWorkspace } from '../session/environment-context.tsx'
import { AppShell } from './app-shell.tsx'
import { CardLayout } from './card-layout.tsx'

/** Finds the environment of the address and shows its pages in the AppShell. */
export function EnvironmentLayout() {
  const params = useParams({ from: '/signed-in/o/$org/$project/$environment' })
  const current = findEnvironment(useWorkspace(), params)
  useEffect(() => {
    if (current !== undefined) rememberEnvironment(current)
  }, [current])
  if (current === undefined) {
    return (
      <CardLayout title="Not found" text="This environment does not exist, or you may not see it.">
        <Link className="button primary" to="/">
          Go to your environments
        </Link>
      </CardLayout>
    )
  }
  return (
    <OrganizationContext value={current.organization}>
      <EnvironmentContext value={current}>
        {/* The key resets the state of every page when the environment changes. */}
        <AppShell key={current.environment.id} isProduction={current.environment.name === 'production'} />
      </EnvironmentContext>
    </OrganizationContext>
  )
}
