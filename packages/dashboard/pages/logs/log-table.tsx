import { Link } from '@tanstack/react-router'
import { useRef } from 'react'
import type { Key } from '../../api/key-calls.ts'
import { toParams } from '../../api/workspace.ts'
import { ScrollableTable } from '../../controls/scrollable-table.tsx'
import { toCount, toDuration } from '../../format/amounts.ts'
import { toAlignedMoney, toMoney } from '../../format/money.ts'
import { toClockTime, toDateTime, toDay } from '../../format/times.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { describeModel, type Log, statusVariant } from './log-calls.ts'
import { useRowKeys } from './use-row-keys.ts'

export function LogTable({ rows, keys }: { rows: readonly Log[]; keys: readonly Key[] }) {
  const { organization } = useEnvironment()
  const table = useRef<HTMLElement>(null)
  useRowKeys(table)
  const keyNames = new Map(keys.map(({ id, name }) => [id, name]))
  return (
    <ScrollableTable label="Requests" variant="logs" containerRef={table}>
      <thead>
        <tr>
          <th scope="col" title={organization.time_zone}>
            Time
          </th>
          <th scope="col">Status</th>
          <th scope="col">Model</th>
          <th scope="col" className="wide-only">
            Key
          </th>
          <th scope="col" className="wide-only">
            End user
          </th>
          <th scope="col" className="wide-only number">
            Tokens in / out
          </th>
          <th scope="col" className="wide-only number">
            First byte
          </th>
          <th scope="col" className="wide-only number">
            Total
          </th>
          <th scope="col" className="wide-only number">
            Cost
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(log => (
          <LogRow
            key={log.id}
            log={log}
            timeZone={organization.time_zone}
            keyName={log.key_id === null ? undefined : (keyNames.get(log.key_id) ?? log.key_id.slice(0, 8))}
          />
        ))}
      </tbody>
    </ScrollableTable>
  )
}

/** The end user of a member who tries models in the playground. Apps cannot name their end users so. */
const PLAYGROUND_PREFIX = 'member:'

function LogRow({ log, timeZone, keyName }: { log: Log; timeZone: string; keyName: string | undefined }) {
  const params = toParams(useEnvironment())
  const at = Date.parse(log.created_at)
  const isToday = toDay(at, timeZone) === toDay(Date.now(), timeZone)
  return (
    <tr>
      <td>
        <Link
          to="/o/$org/$project/$environment/logs/$requestId"
          params={{ ...params, requestId: log.request_id }}
          title={`${toDateTime(at, timeZone)} ${timeZone}`}
        >
          {!isToday && <span className="muted">{toDay(at, timeZone)} </span>}
          {toClockTime(at, timeZone)}
        </Link>
      </td>
      <td className="status truncate" title={log.error_code ?? undefined}>
        <span className={`chip ${statusVariant(log.status)}`}>{log.status}</span>
        {log.error_code !== null && <code className="wide-only small error-code"> {log.error_code}</code>}
      </td>
      <td className="truncate model" title={describeModel(log)}>
        {describeModel(log)}
      </td>
      <td className="wide-only truncate who" title={keyName}>
        {keyName ?? <span className="muted">–</span>}
      </td>
      <td className="wide-only truncate who" title={log.end_user_id ?? undefined}>
        {log.end_user_id === null ? (
          <span className="muted">–</span>
        ) : log.end_user_id.startsWith(PLAYGROUND_PREFIX) ? (
          <span className="muted">playground</span>
        ) : (
          log.end_user_id
        )}
      </td>
      <td className="wide-only number">
        {toCount(log.usage.input_tokens)} / {toCount(log.usage.output_tokens)}
      </td>
      <td className="wide-only number">{log.first_byte_ms === null ? '–' : toDuration(log.first_byte_ms)}</td>
      <td className="wide-only number">{toDuration(log.total_ms)}</td>
      <td className="wide-only number" title={log.cost_usd === null ? undefined : toMoney(log.cost_usd)}>
        {log.status >= 400 && log.cost_usd === null ? '–' : toAlignedMoney(log.cost_usd)}
      </td>
    </tr>
  )
}
