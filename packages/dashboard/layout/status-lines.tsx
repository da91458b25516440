import { useIsFetching } from '@tanstack/react-query'
import { useRouterState } from '@tanstack/react-router'
import { useSyncExternalStore } from 'react'

/** A line at the top while something loads; what is shown stays. */
export function ProgressLine() {
  const isNavigating = useRouterState({ select: state => state.isLoading })
  const fetching = useIsFetching({ predicate: ({ meta }) => meta?.isQuiet !== true })
  return isNavigating || fetching > 0 ? <div className="progress-line" aria-hidden="true" /> : null
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
export function ConnectionBar() {
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine)
  return isOnline ? null : (
    <div className="bar" role="status">
      You are offline. What you see may be old.
    </div>
  )
}
