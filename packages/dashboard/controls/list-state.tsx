import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { ErrorPanel } from './error-panel.tsx'
import { Skeleton } from './skeleton.tsx'

interface ListQuery {
  readonly isPending: boolean
  readonly isError: boolean
  readonly error: unknown
  readonly items: readonly unknown[]
  readonly hasNextPage: boolean
  readonly isFetchingNextPage: boolean
  refetch(): unknown
  fetchNextPage(): unknown
}

/** Shows a list in each of its states: loading, failed, empty, and with more to load. */
export function ListState({
  what,
  query,
  empty,
  children,
}: {
  /** The plural of what is listed, such as `Keys`, for error messages. */
  what: string
  query: ListQuery
  empty: ReactNode
  children: ReactNode
}) {
  if (query.isPending) {
    return (
      <div className="panel padded">
        <Skeleton rows={5} />
      </div>
    )
  }
  if (query.isError && query.items.length === 0) {
    return <ErrorPanel what={what} error={query.error} onRetry={() => void query.refetch()} />
  }
  if (query.items.length === 0) return <div className="panel">{empty}</div>
  return (
    <>
      <div className="panel">{children}</div>
      {query.isError && <ErrorPanel what={`More ${what.toLowerCase()}`} error={query.error} />}
      {query.hasNextPage && (
        <div className="row">
          <Button isPending={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
    </>
  )
}

export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}
