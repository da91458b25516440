import { useIsFetching } from '@tanstack/react-query'
import { useRouterState } from '@tanstack/react-router'
import { useSyncExternalStore } from 'react'

/** A line at the top while something loads; what is shown stays. */
export function ProgressLine() {
  const isNavigating = useRouterState({ select: state => state.isLoading })
  const fetching = useIsFetching({ predicate: ({ meta }) => meta?.isQuiet !== true })
  return isNavigating || fetching > 0 ? <div className="progress-line" aria-hidden="true" /> : null
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Parameters of the address that mean nothing in the environment that was switched to. */
    droppedFilters?: readonly string[]
  }
}

const WORDS: Readonly<Record<string, string>> = {
  key_id: 'key',
  'not.key_id': 'key',
  key_name: 'key name',
  'not.key_name': 'key name',
  end_user_id: 'end user',
  'not.end_user_id': 'end user',
  request_id: 'request id',
  q: 'search',
}

/** After a switch of the environment: which filters do not exist there. Gone with the next address. */
export function DroppedFilters() {
  const droppedFilters = useRouterState({ select: state => state.location.state.droppedFilters })
  if (droppedFilters === undefined || droppedFilters.length === 0) return null
  const names = [...new Set(droppedFilters.map(name => WORDS[name] ?? name))]
  return (
    <p className="notice" role="status">
      Left out, because {names.length === 1 ? 'it belongs' : 'they belong'} to the other environment: filter
      by {names.join(', ')}.
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

/** One bar while the browser has no network. */
export function OfflineBanner() {
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine)
  return isOnline ? null : (
    <div className="banner" role="status">
      You are offline. What you see may be old.
    </div>
  )
}
