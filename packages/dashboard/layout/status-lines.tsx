import { useIsFetching } from '@tanstack/react-query'
import { useRouterState } from '@tanstack/react-router'
import { useSyncExternalStore } from 'react'

/** A line at the top of the window while something loads. The page stays as it is. */
export function ProgressLine() {
  const isNavigating = useRouterState({ select: state => state.isLoading })
  const fetching = useIsFetching({ predicate: ({ meta }) => meta?.isQuiet !== true })
  return isNavigating || fetching > 0 ? <div className="progress-line" aria-hidden="true" /> : null
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Filters that were dropped from the address because they name records of the previous environment. */
    droppedFilters?: readonly string[]
  }
}

/** A map, not an object: the address may name a parameter like a property that every object inherits. */
const FILTER_NAMES: ReadonlyMap<string, string> = new Map([
  ['key_id', 'key'],
  ['not.key_id', 'key'],
  ['key_name', 'key name'],
  ['not.key_name', 'key name'],
  ['end_user_id', 'end user'],
  ['not.end_user_id', 'end user'],
  ['request_id', 'request id'],
  ['q', 'search'],
])

/** After a switch of the environment, names the filters that were dropped. The next navigation removes the notice. */
export function DroppedFilters() {
  const droppedFilters = useRouterState({ select: state => state.location.state.droppedFilters })
  if (droppedFilters === undefined || droppedFilters.length === 0) return null
  const names = [...new Set(droppedFilters.map(name => FILTER_NAMES.get(name) ?? name))]
  return (
    <p className="notice" role="status">
      {names.length === 1 ? 'This filter belongs' : 'These filters belong'} to the other environment and{' '}
      {names.length === 1 ? 'was' : 'were'} dropped: {names.join(', ')}.
    </p>
  )
}

function subscribe(listener: () => void): () => void {
  addEventListener('online', listener)
  addEventListener('offline', listener)
  return () => {
    removeEventListener('online', listener)
    removeEventListener('offline', listener)
  }
}

/** A banner while the browser is offline. */
export function OfflineBanner() {
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine)
  return isOnline ? null : (
    <div className="banner" role="status">
      You are offline. What you see may be out of date.
    </div>
  )
}
