import { Link, useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { findPlace, rememberPlace } from '../api/workspace.ts'
import { OrganizationContext, PlaceContext, useWorkspace } from '../session/place-context.tsx'
import { Door } from './door.tsx'
import { Frame } from './frame.tsx'

/** Finds the environment that the address names, and puts its pages into the frame. */
export function EnvironmentLayout() {
  const names = useParams({ from: '/signed-in/o/$org/$project/$environment' })
  const place = findPlace(useWorkspace(), names)
  useEffect(() => {
    if (place !== undefined) rememberPlace(place)
  }, [place])
  if (place === undefined) {
    return (
      <Door title="Nothing here" text="There is nothing by this name, or you may not see it.">
        <Link className="button primary" to="/">
          Go to your environments
        </Link>
      </Door>
    )
  }
  return (
    <OrganizationContext value={place.organization}>
      <PlaceContext value={place}>
        {/* The key makes every page start anew in another environment. */}
        <Frame key={place.environment.id} isProduction={place.environment.name === 'production'} />
      </PlaceContext>
    </OrganizationContext>
  )
}
