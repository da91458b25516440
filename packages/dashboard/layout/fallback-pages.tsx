import { Link } from '@tanstack/react-router'
import { Button } from '../controls/button.tsx'
import { ErrorNotice } from '../controls/error-panel.tsx'
import { useWorkspace } from '../session/environment-context.tsx'
import { CardLayout } from './card-layout.tsx'
import { UserMenu } from './user-menu.tsx'

export function NotFoundPage() {
  return (
    <CardLayout title="Page not found" text="The dashboard has no page at this address.">
      <Link className="button primary" to="/">
        Go to your environments
      </Link>
    </CardLayout>
  )
}

/** Replaces a page that failed as a whole. */
export function ErrorPage({ error }: { error: unknown }) {
  return (
    <CardLayout title="This page could not be shown">
      <ErrorNotice error={error} />
      <Button variant="primary" onClick={() => location.reload()}>
        Try again
      </Button>
    </CardLayout>
  )
}

/** Is shown to users who belong to no organization, or only to organizations without projects. */
export function NoEnvironmentPage() {
  const { organizations } = useWorkspace()
  const text =
    organizations.length === 0
      ? 'You do not belong to an organization yet. Ask a colleague for an invitation.'
      : 'Your organizations have no projects yet. An admin can create one.'
  return (
    <CardLayout title="Nothing to open yet" text={text}>
      <UserMenu />
    </CardLayout>
  )
}
