import { Link, useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { findEnvironment, rememberEnvironment } from '../api/workspace.ts'
import { EnvironmentContext, OrganizationContext, useWorkspace } from '../session/environment-context.tsx'
import { AppShell } from './app-shell.tsx'
import { CardLayout } from './card-layout.tsx'

/** Finds the environment that the address names, and puts its pages into the frame. */
export function EnvironmentLayout() {
  const params = useParams({ from: '/signed-in/o/$org/$project/$environment' })
  const current = findEnvironment(useWorkspace(), params)
  useEffect(() => {
    if (current !== undefined) rememberEnvironment(current)
  }, [current])
  if (current === undefined) {
    return (
      <CardLayout title="Nothing here" text="There is nothing by this name, or you may not see it.">
        <Link className="button primary" to="/">
          Go to your environments
        </Link>
      </CardLayout>
    )
  }
  return (
    <OrganizationContext value={current.organization}>
      <EnvironmentContext value={current}>
        {/* The key makes every page start anew in another environment. */}
        <AppShell key={current.environment.id} isProduction={current.environment.name === 'production'} />
      </EnvironmentContext>
    </OrganizationContext>
  )
}
