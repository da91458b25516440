import { Link } from '@tanstack/react-router'
import { toParams } from '../../api/workspace.ts'
import { ModelParts } from '../../controls/model-id.tsx'
import { ScrollableTable } from '../../controls/scrollable-table.tsx'
import { toChange, toCount, toPercent } from '../../format/amounts.ts'
import { toMoney } from '../../format/money.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import type { EarlierUsage } from './usage-calls.ts'
import { type PivotRow, type Sums, sumAll } from './usage-pivot.ts'
import { PIVOTS, type Pivot } from './usage-search.ts'

interface UsageTableProps {
  readonly pivot: readonly PivotRow[]
  readonly by: Pivot
  readonly earlier: EarlierUsage | undefined
  readonly nameOf: (row: PivotRow) => string
  /** The range of the logs that a name links to. Undefined if the logs of this environment lack some of the requests. */
  readonly logRange: '7d' | '30d' | undefined
}

export function UsageTable({ pivot, by, earlier, nameOf, logRange }: UsageTableProps) {
  const total = sumAll(pivot)
  const { label } = PIVOTS[by]
  return (
    <ScrollableTable label={`Usage by ${label.toLowerCase()}`}>
      <thead>
        <tr>
          <th scope="col">{label}</th>
          <th scope="col" className="number">
            Requests
          </th>
          <th scope="col" className="number wide-only">
            Failed
          </th>
          <th scope="col" className="number wide-only">
            Tokens in
          </th>
          <th scope="col" className="number wide-only">
            Cached
          </th>
          <th scope="col" className="number wide-only">
            Tokens out
          </th>
          <th scope="col" className="number">
            Cost
          </th>
          <th scope="col" className="number wide-only">
            Share
          </th>
        </tr>
      </thead>
      <tbody>
        {pivot.map(row => (
          <tr key={row.value === undefined ? 'other' : `value ${row.value}`}>
            <td className={by === 'model' ? 'breaks' : 'text truncate'}>
              <RowName row={row} by={by} name={nameOf(row)} logRange={logRange} />
            </td>
            <Cells sums={row} totalUsd={total.costUsd} />
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <td>Total</td>
          <Cells sums={total} totalUsd={total.costUsd} />
        </tr>
        {earlier !== undefined && <ChangeRow total={total} earlier={earlier} />}
      </tfoot>
    </ScrollableTable>
  )
}

function ChangeRow({ total, earlier }: { total: Sums; earlier: EarlierUsage }) {
  const changeOf = (name: keyof Sums): string => toChange(total[name], earlier[name]) ?? '–'
  return (
    <tr className="change">
      <th scope="row">Change from the previous {earlier.days} days</th>
      <td className="number">{changeOf('requests')}</td>
      <td className="wide-only" />
      <td className="number wide-only">{changeOf('inputTokens')}</td>
      <td className="number wide-only">{changeOf('cachedTokens')}</td>
      <td className="number wide-only">{changeOf('outputTokens')}</td>
      <td className="number">{changeOf('costUsd')}</td>
      <td className="wide-only" />
    </tr>
  )
}

function RowName({
  row: { value },
  by,
  name,
  logRange,
}: Pick<UsageTableProps, 'by' | 'logRange'> & { row: PivotRow; name: string }) {
  const current = useEnvironment()
  if (value === null || value === undefined) return <span className="muted">{name}</span>
  const filter =
    by === 'model'
      ? { model: value }
      : by === 'key'
        ? { key_id: value }
        : by === 'end_user'
          ? { end_user_id: value }
          : undefined
  if (filter === undefined || logRange === undefined) return <span className="name">{name}</span>
  return (
    <Link
      to="/o/$org/$project/$environment/logs"
      params={toParams(current)}
      search={{ ...filter, range: logRange }}
    >
      {by === 'model' ? <ModelParts id={name} /> : name}
    </Link>
  )
}

function Cells({ sums, totalUsd }: { sums: Sums; totalUsd: number }) {
  const isUnpriced = sums.unpriced > 0 && sums.unpriced === sums.requests
  return (
    <>
      <td className="number">{toCount(sums.requests)}</td>
      <td className="number wide-only">{toPercent(sums.requests === 0 ? 0 : sums.errors / sums.requests)}</td>
      <td className="number wide-only">{toCount(sums.inputTokens)}</td>
      <td className="number wide-only">{toCount(sums.cachedTokens)}</td>
      <td className="number wide-only">{toCount(sums.outputTokens)}</td>
      <td className="number">
        {isUnpriced ? 'unpriced' : toMoney(sums.costUsd)}
        {!isUnpriced && sums.unpriced > 0 && (
          <span className="muted more"> + {toCount(sums.unpriced)} unpriced</span>
        )}
      </td>
      <td className="number wide-only">{totalUsd === 0 ? '–' : toPercent(sums.costUsd / totalUsd)}</td>
    </>
  )
}
