import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { toParams } from '../../api/workspace.ts'
import { isKeyIgnored } from '../../layout/use-shortcuts.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import type { LogSearch } from './log-search.ts'

const ROUTE = '/o/$org/$project/$environment/logs/$requestId'

/** The list that a request was opened from: the ids of its rows, newest first, and its filters. */
interface LogList {
  readonly requestIds: readonly string[]
  readonly search: LogSearch
}

const keyOf = (envId: string): readonly unknown[] => ['log-list', envId]

/** Remembers the rows and filters of the list for the pages of its requests. */
export function useRememberList(
  envId: string,
  rows: readonly { request_id: string }[],
  search: LogSearch,
): void {
  const client = useQueryClient()
  useEffect(() => {
    const list: LogList = { requestIds: rows.map(({ request_id: id }) => id), search }
    // A user may stay on the page of a request for a long time.
    client.setQueryDefaults(keyOf(envId), { gcTime: Number.POSITIVE_INFINITY })
    client.setQueryData(keyOf(envId), list)
  }, [client, envId, rows, search])
}

/** Links back to the list with its filters, and to the newer and the older request in that list. */
export function LogNeighbors({ requestId }: { requestId: string }) {
  const current = useEnvironment()
  const params = toParams(current)
  const { data: list } = useQuery<LogList>({ queryKey: keyOf(current.environment.id), queryFn: skipToken })
  const at = list?.requestIds.indexOf(requestId) ?? -1
  const newer = at > 0 ? list?.requestIds[at - 1] : undefined
  const older = at === -1 ? undefined : list?.requestIds[at + 1]
  useNeighborKeys(newer, older)
  return (
    <nav aria-label="Breadcrumb" className="row small breadcrumb">
      <Link
        to="/o/$org/$project/$environment/logs"
        params={params}
        search={at === -1 ? {} : (list?.search ?? {})}
      >
        ← Logs
      </Link>
      {newer !== undefined && (
        <Link to={ROUTE} params={{ ...params, requestId: newer }} aria-keyshortcuts="[">
          Newer <kbd aria-hidden="true">[</kbd>
        </Link>
      )}
      {older !== undefined && (
        <Link to={ROUTE} params={{ ...params, requestId: older }} aria-keyshortcuts="]">
          Older <kbd aria-hidden="true">]</kbd>
        </Link>
      )}
    </nav>
  )
}

function useNeighborKeys(newer: string | undefined, older: string | undefined): void {
  const navigate = useNavigate()
  const current = useEnvironment()
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || isKeyIgnored(event.target)) return
      const requestId = event.key === '[' ? newer : event.key === ']' ? older : undefined
      if (requestId === undefined) return
      void navigate({ to: ROUTE, params: { ...toParams(current), requestId } })
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [navigate, current, newer, older])
}
