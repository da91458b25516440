import { Link } from '@tanstack/react-router'
import { useRef } from 'react'
import type { Key } from '../../api/key-calls.ts'
import { toNames } from '../../api/workspace.ts'
import { TableFrame } from '../../controls/table-frame.tsx'
import { toCount, toDuration } from '../../format/amounts.ts'
import { toMoney } from '../../format/money.ts'
import { toClockTime, toDateTime, toDay } from '../../format/times.ts'
import { usePlace } from '../../session/place-context.tsx'
import { describeModel, type Log, lookOf } from './log-calls.ts'
import { useRowKeys } from './use-row-keys.ts'

export function LogTable({ rows, keys }: { rows: readonly Log[]; keys: readonly Key[] }) {
  const { organization } = usePlace()
  const table = useRef<HTMLElement>(null)
  useRowKeys(table)
  const keyNames = new Map(keys.map(({ id, name }) => [id, name]))
  return (
    <TableFrame label="Requests" look="logs" frame={table}>
      <thead>
        <tr>
          <th scope="col" title={organization.time_zone}>
            Time
          </th>
          <th scope="col">Status</th>
          <th scope="col">Model</th>
          <th scope="col" className="wide">
            Key
          </th>
          <th scope="col" className="wide">
            End user
          </th>
          <th scope="col" className="wide number">
            Tokens in / out
          </th>
          <th scope="col" className="wide number">
            First byte
          </th>
          <th scope="col" className="wide number">
            Total
          </th>
          <th scope="col" className="wide number">
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
    </TableFrame>
  )
}

function LogRow({ log, timeZone, keyName }: { log: Log; timeZone: string; keyName: string | undefined }) {
  const names = toNames(usePlace())
  const at = Date.parse(log.created_at)
  const isToday = toDay(at, timeZone) === toDay(Date.now(), timeZone)
  return (
    <tr>
      <td>
        <Link
          to="/o/$org/$project/$environment/logs/$requestId"
          params={{ ...names, requestId: log.request_id }}
          title={`${toDateTime(at, timeZone)} ${timeZone}`}
        >
          {!isToday && <span className="muted">{toDay(at, timeZone)} </span>}
          {toClockTime(at, timeZone)}
        </Link>
      </td>
      <td className="status cut" title={log.error_code ?? undefined}>
        <span className={`chip ${lookOf(log.status)}`}>{log.status}</span>
        {log.error_code !== null && <code className="wide-only small error-code"> {log.error_code}</code>}
      </td>
      <td className="cut model" title={describeModel(log)}>
        {describeModel(log)}
      </td>
      <td className="wide cut who" title={keyName}>
        {keyName ?? <span className="muted">–</span>}
      </td>
      <td className="wide cut who" title={log.end_user_id ?? undefined}>
        {log.end_user_id ?? <span className="muted">–</span>}
      </td>
      <td className="wide number">
        {toCount(log.usage.input_tokens)} / {toCount(log.usage.output_tokens)}
      </td>
      <td className="wide number">{log.first_byte_ms === null ? '–' : toDuration(log.first_byte_ms)}</td>
      <td className="wide number">{toDuration(log.total_ms)}</td>
      <td className="wide number">
        {log.status >= 400 && log.cost_usd === null ? '–' : toMoney(log.cost_usd)}
      </td>
    </tr>
  )
}
