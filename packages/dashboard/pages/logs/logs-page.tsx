import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Resource } from '../../api/client.ts'
import { keyNamesQuery } from '../../api/key-calls.ts'
import { useList } from '../../api/use-list.ts'
import { toParams } from '../../api/workspace.ts'
import { Button } from '../../controls/button.tsx'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { EmptyState, ListState } from '../../controls/list-state.tsx'
import { PageHeader } from '../../controls/page-header.tsx'
import { toCount } from '../../format/amounts.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { saveFile } from '../usage/save-file.ts'
import { FilterBar } from './filter-bar.tsx'
import { downloadLogs, listLogs } from './log-calls.ts'
import { LogHistogram, logHistogramQuery } from './log-histogram.tsx'
import { useRememberList } from './log-neighbors.tsx'
import {
  countFilters,
  DEFAULT_RANGE,
  FILTER_LABELS,
  type LogSearch,
  listMetadata,
  parseLogSearch,
  toLogQuery,
} from './log-search.ts'
import { LogTable } from './log-table.tsx'
import './logs.css'
import { SavedViews } from './saved-views.tsx'
import { useLiveTail } from './use-live-tail.ts'

const RANGE_WORDS = {
  '1h': 'the last hour',
  '24h': 'the last 24 hours',
  '7d': 'the last 7 days',
  '30d': 'the last 30 days',
} as const

export function LogsPage() {
  const current = useEnvironment()
  const envId = current.environment.id
  // useSearch may also return parameters that the API does not know and would refuse.
  const search = parseLogSearch(useSearch({ from: '/signed-in/o/$org/$project/$environment/logs' }))
  const navigate = useNavigate()
  const [loadedAt, setLoadedAt] = useState(Date.now)
  const query = toLogQuery(search, loadedAt)
  const logs = useList(['logs', envId, query], cursor => listLogs(envId, query, cursor))
  const histogram = useQuery(logHistogramQuery(envId, query))
  const keys = useQuery(keyNamesQuery(envId))
  const isLive = search.tail === '1'
  const tail = useLiveTail(isLive && logs.isSuccess, envId, query, logs.items)
  const rows = [...tail.rows, ...logs.items]
  useRememberList(envId, rows, search)
  const download = useMutation({
    mutationFn: () => downloadLogs(envId, query),
    onSuccess: ({ file }) => saveFile(`logs-${current.project.slug}-${current.environment.name}.csv`, file),
  })
  const change = (next: LogSearch): void =>
    void navigate({
      to: '/o/$org/$project/$environment/logs',
      params: toParams(current),
      search: next,
    })
  return (
    <>
      <PageHeader
        title="Logs"
        description={
          logs.isSuccess
            ? `${toDescription(rows.length, logs.hasNextPage, isLive ? undefined : histogram.data, search)}. Times in ${current.organization.time_zone}.`
            : 'What happened to each request.'
        }
        actions={
          <>
            <SavedViews search={search} onChange={change} />
            <Button
              aria-pressed={isLive}
              onClick={() => {
                const { tail: _, ...rest } = search
                change(isLive ? rest : { ...rest, tail: '1' })
              }}
            >
              <span className={isLive ? 'live-dot on' : 'live-dot'} aria-hidden="true" />
              {isLive ? 'Live' : 'Go live'}
            </Button>
            <Button onClick={() => setLoadedAt(Date.now())}>Refresh</Button>
            <Button disabled={download.isPending} onClick={() => download.mutate()}>
              {download.isPending ? 'Preparing CSV' : 'CSV'}
            </Button>
          </>
        }
      />
      {download.error !== null && <ErrorPanel what="The CSV" error={download.error} />}
      {download.data?.isTruncated === true && (
        <p className="notice" role="status">
          The file has the newest 50,000 requests. Narrow the time to get older ones.
        </p>
      )}
      <FilterBar search={search} keys={keys.data?.data ?? []} onChange={change} />
      <LogHistogram envId={envId} query={query} onSelect={(from, to) => change({ ...search, from, to })} />
      {tail.error !== undefined && <ErrorPanel what="New requests" error={tail.error} />}
      <ListState
        what="Logs"
        query={{ ...logs, items: rows }}
        empty={<NoRows search={search} onChange={change} />}
      >
        <LogTable rows={rows} keys={keys.data?.data ?? []} />
      </ListState>
      <p className="visually-hidden" role="status">
        {tail.rows.length > 0 && `${tail.rows.length} new ${tail.rows.length === 1 ? 'request' : 'requests'}`}
      </p>
    </>
  )
}

/** The histogram knows how many requests match where the list has not loaded all of them. */
function toDescription(
  loaded: number,
  hasMore: boolean,
  histogram: Resource<'LogHistogram'> | undefined,
  search: LogSearch,
): string {
  const isCounted = hasMore && histogram?.is_complete === true
  const counted = isCounted ? histogram.data.reduce((total, { requests }) => total + requests, 0) : 0
  const count = Math.max(loaded, counted)
  const time =
    search.from !== undefined || search.to !== undefined
      ? 'in the chosen time'
      : `in ${RANGE_WORDS[search.range ?? DEFAULT_RANGE]}`
  const filters = countFilters(search) === 0 ? '' : count === 1 ? ' that matches' : ' that match'
  return `${toCount(count)}${hasMore && !isCounted ? '+' : ''} ${count === 1 ? 'request' : 'requests'}${filters} ${time}`
}

function NoRows({ search, onChange }: { search: LogSearch; onChange: (search: LogSearch) => void }) {
  const current = useEnvironment()
  const { range, from, to, tail: _, ...filters } = search
  const time = { ...(range && { range }), ...(from && { from }), ...(to && { to }) }
  if (countFilters(search) === 0) {
    return (
      <EmptyState title="No requests in this time">
        <div className="row">
          <Link
            className="button primary"
            to="/o/$org/$project/$environment/playground"
            params={toParams(current)}
          >
            Open the playground
          </Link>
          {range !== '30d' && <Button onClick={() => onChange({ range: '30d' })}>Show 30 days</Button>}
        </div>
      </EmptyState>
    )
  }
  return (
    <EmptyState title="No request matches">
      <div className="row">
        {FILTER_LABELS.filter(([name]) => filters[name] !== undefined).map(([name, label]) => (
          <Button
            key={name}
            onClick={() => {
              const { [name]: _dropped, ...rest } = filters
              onChange({ ...rest, ...time })
            }}
          >
            Clear {label.toLowerCase()}
          </Button>
        ))}
        {listMetadata(search).map(([name]) => (
          <Button
            key={name}
            onClick={() => {
              const { [name]: _dropped, ...rest } = filters
              onChange({ ...rest, ...time })
            }}
          >
            Clear {name}
          </Button>
        ))}
        <Button onClick={() => onChange(time)}>Clear all</Button>
      </div>
    </EmptyState>
  )
}
