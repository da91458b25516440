import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { keyNamesQuery } from '../../api/key-calls.ts'
import { toParams } from '../../api/workspace.ts'
import { Chart } from '../../charts/chart.tsx'
import { Button } from '../../controls/button.tsx'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { SelectField } from '../../controls/field.tsx'
import { EmptyState } from '../../controls/list-state.tsx'
import { PageHeader } from '../../controls/page-header.tsx'
import { Skeleton } from '../../controls/skeleton.tsx'
import { toCount } from '../../format/amounts.ts'
import { toMoney } from '../../format/money.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { ForecastPanel } from './forecast-panel.tsx'
import { saveFile } from './save-file.ts'
import { type EarlierUsage, loadEarlier, loadUsage } from './usage-calls.ts'
import { toCsv } from './usage-file.ts'
import { type PivotRow, sumAll, toPivot, toStacks, toSums } from './usage-pivot.ts'
import {
  isAllowed,
  listDays,
  MEASURES,
  type Measure,
  PIVOTS,
  type Pivot,
  parseUsageSearch,
  RANGES,
  type Range,
  USAGE_SCOPES,
  type UsageScope,
  type UsageSearch,
} from './usage-search.ts'
import { UsageTable } from './usage-table.tsx'
import './usage.css'

export function UsagePage() {
  const current = useEnvironment()
  const search = parseUsageSearch(useSearch({ from: '/signed-in/o/$org/$project/$environment/usage' }))
  const { by = 'model', of = 'environment', show = 'cost' } = search
  const range = isAllowed(search.range ?? '30d', by) ? (search.range ?? '30d') : '30d'
  const { time_zone: timeZone } = current.organization
  const usage = useQuery({
    queryKey: [
      'usage-by',
      current.organization.id,
      current.project.id,
      current.environment.id,
      of,
      by,
      range,
    ],
    queryFn: async () => {
      const now = Date.now()
      const [rows, earlier] = await Promise.all([
        loadUsage(current, of, by, range, now),
        loadEarlier(current, of, range, now),
      ])
      return { now, rows, earlier }
    },
    placeholderData: previous => previous,
  })
  const nameOf = useNames(by)
  const real = useMemo(() => usage.data?.rows.filter(({ sandbox }) => !sandbox) ?? [], [usage.data])
  const pivot = useMemo(() => toPivot(real, by, timeZone), [real, by, timeZone])
  const sandbox = sumAll(usage.data?.rows.filter(row => row.sandbox).map(toSums) ?? [])
  const total = sumAll(pivot)
  const download = (): void => {
    const day = new Date().toISOString().slice(0, 10)
    saveFile(`usage-by-${by}-${range}-${day}.csv`, toCsv(pivot, PIVOTS[by].label, nameOf))
  }
  return (
    <>
      <PageHeader
        title="Usage"
        description={
          usage.data === undefined
            ? 'Where did the money go?'
            : total.requests === 0
              ? `No requests in ${RANGES[range].words}.`
              : `${toMoney(total.costUsd)} for ${toCount(total.requests)} ${total.requests === 1 ? 'request' : 'requests'} in ${RANGES[range].words}${toLargestShare(pivot[0], total.costUsd, nameOf)}.`
        }
        actions={
          <Button
            disabledReason={pivot.length === 0 ? 'There is nothing to download.' : undefined}
            onClick={download}
          >
            Download CSV
          </Button>
        }
      />
      <Choices search={{ range, by, of, show }} />
      {usage.isPending && <Skeleton rows={4} heightPx={96} />}
      {usage.isError && <ErrorPanel what="Usage" error={usage.error} onRetry={() => void usage.refetch()} />}
      {usage.data !== undefined && pivot.length === 0 && <NothingUsed range={range} />}
      {usage.data !== undefined && pivot.length > 0 && (
        <Figures
          pivot={pivot}
          now={usage.data.now}
          earlier={usage.data.earlier}
          search={{ range, by, of, show }}
          nameOf={nameOf}
        />
      )}
      {sandbox.requests > 0 && (
        <p className="notice">
          Not counted above: {toCount(sandbox.requests)} {sandbox.requests === 1 ? 'request' : 'requests'} to
          the sandbox, which have no real cost.
        </p>
      )}
      <ForecastPanel />
    </>
  )
}

function toLargestShare(
  largest: PivotRow | undefined,
  totalUsd: number,
  nameOf: (row: PivotRow) => string,
): string {
  if (largest?.value == null || totalUsd === 0 || largest.costUsd === totalUsd) return ''
  return `, ${Math.round((100 * largest.costUsd) / totalUsd)}\u00a0% of it for ${nameOf(largest)}`
}

/** Returns a function from a row to its name. A key without a known name shows its id. */
function useNames(by: Pivot): (row: PivotRow) => string {
  const { environment, organization } = useEnvironment()
  const keys = useQuery({
    ...keyNamesQuery(environment.id),
    enabled: by === 'key',
  })
  return useMemo(() => {
    const names = new Map<string, string>([
      ...(keys.data?.data ?? []).map(({ id, name }) => [id, name] as const),
      ...organization.projects.map(({ id, name }) => [id, name] as const),
    ])
    return ({ value }) => {
      if (value === undefined) return 'All others'
      if (value === null) return by === 'model' ? 'No model reached' : 'None'
      return by === 'key' || by === 'project' ? (names.get(value) ?? value) : value
    }
  }, [by, keys.data, organization])
}

type CompleteSearch = Required<UsageSearch>

function Choices({ search }: { search: CompleteSearch }) {
  const current = useEnvironment()
  const navigate = useNavigate()
  const change = (next: UsageSearch): void =>
    void navigate({
      to: '/o/$org/$project/$environment/usage',
      params: toParams(current),
      search: { ...search, ...next },
    })
  return (
    <div className="filters">
      <SelectField
        label="Time"
        data-range
        value={search.range}
        onChange={({ target }) => change({ range: target.value as Range })}
      >
        {Object.entries(RANGES).map(([name, { label }]) => (
          <option key={name} value={name} disabled={!isAllowed(name as Range, search.by)}>
            {label}
          </option>
        ))}
      </SelectField>
      <SelectField
        label="Scope"
        value={search.of}
        onChange={({ target }) => change({ of: target.value as UsageScope })}
      >
        {Object.entries(USAGE_SCOPES).map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </SelectField>
      <SelectField
        label="Group by"
        value={search.by}
        onChange={({ target }) => change({ by: target.value as Pivot })}
      >
        {Object.entries(PIVOTS).map(([name, { label }]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </SelectField>
      <SelectField
        label="Bars show"
        value={search.show}
        onChange={({ target }) => change({ show: target.value as Measure })}
      >
        {Object.entries(MEASURES).map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </SelectField>
    </div>
  )
}

interface FiguresProps {
  readonly pivot: readonly PivotRow[]
  readonly now: number
  readonly earlier: EarlierUsage | undefined
  readonly search: CompleteSearch
  readonly nameOf: (row: PivotRow) => string
}

function Figures({ pivot, now, earlier, search: { range, by, of, show }, nameOf }: FiguresProps) {
  const current = useEnvironment()
  const { time_zone: timeZone } = current.organization
  const { labels, series } = useMemo(
    () => toStacks(pivot, listDays(range, now, timeZone), show, timeZone, nameOf),
    [pivot, range, now, show, timeZone, nameOf],
  )
  return (
    <>
      <Chart
        title={`${show === 'cost' ? 'Cost in US dollars' : MEASURES[show]} by ${PIVOTS[by].label.toLowerCase()}`}
        caption={`By day, ${timeZone}, without the sandbox.`}
        labels={labels}
        series={series}
        kind="bars"
        unit={show === 'cost' ? 'usd' : 'count'}
        isLastRunning
      />
      <div className="panel">
        <UsageTable
          pivot={pivot}
          by={by}
          earlier={earlier}
          nameOf={nameOf}
          logRange={of === 'environment' && (range === 'month' || range === '30d') ? '30d' : undefined}
        />
      </div>
    </>
  )
}

function NothingUsed({ range }: { range: Range }) {
  const current = useEnvironment()
  return (
    <div className="panel">
      <EmptyState title={`Nothing used in ${RANGES[range].words}`}>
        <p>Costs appear with the first request to a real model.</p>
        <Link
          className="button primary"
          to="/o/$org/$project/$environment/playground"
          params={toParams(current)}
        >
          Open the playground
        </Link>
      </EmptyState>
    </div>
  )
}
