import { Link, useParams } from '@tanstack/react-router'
import { findHome, findOrganization, type Organization } from '../api/workspace.ts'
import { OrganizationContext, PlaceContext, useWorkspace } from '../session/place-context.tsx'
import { Door } from './door.tsx'
import { Frame } from './frame.tsx'

/** The frame of an organization's own pages. It keeps showing the environment that was open last. */
export function OrganizationLayout() {
  const { org } = useParams({ from: '/signed-in/o/$org' })
  const workspace = useWorkspace()
  const organization = findOrganization(workspace, org)
  if (organization === undefined) {
    return (
      <Door title="Nothing here" text="There is nothing by this name, or you may not see it.">
        <Link className="button primary" to="/">
          Go to your environments
        </Link>
      </Door>
    )
  }
  const place = findHome({ ...workspace, organizations: [organization] as Organization[] })
  return (
    <OrganizationContext value={organization}>
      <PlaceContext value={place}>
        <Frame key={organization.id} isProduction={place?.environment.name === 'production'} />
      </PlaceContext>
    </OrganizationContext>
  )
}
