import { Link } from '@tanstack/react-router'
import { toApiError } from '../api/api-error.ts'
import { Button } from '../controls/button.tsx'
import { useWorkspace } from '../session/environment-context.tsx'
import { CardLayout } from './card-layout.tsx'
import { UserMenu } from './user-menu.tsx'

export function NotFoundPage() {
  return (
    <CardLayout title="No such page" text="The address names no page of the dashboard.">
      <Link className="button primary" to="/">
        Go to your environments
      </Link>
    </CardLayout>
  )
}

/** A page that failed as a whole. */
export function ErrorPage({ error }: { error: unknown }) {
  const { message, code, requestId } = toApiError(error)
  return (
    <CardLayout title="This page could not be shown">
      <div role="alert" className="notice bad">
        <span>{message}</span>
        <span className="small">
          <code>{code}</code>
          {requestId !== undefined && (
            <>
              {' '}
              · request <code>{requestId}</code>
            </>
          )}
        </span>
      </div>
      <Button variant="primary" onClick={() => location.reload()}>
        Try again
      </Button>
    </CardLayout>
  )
}

/** For somebody who belongs to no organization, or to one without a project. */
export function NoEnvironmentPage() {
  const { organizations } = useWorkspace()
  const text =
    organizations.length === 0
      ? 'You belong to no organization. Ask a colleague for an invitation.'
      : 'Your organizations have no project yet. An admin can create one.'
  return (
    <CardLayout title="Nothing to open yet" text={text}>
      <UserMenu />
    </CardLayout>
  )
}
