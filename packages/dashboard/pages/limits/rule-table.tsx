import { useState } from 'react'
import { Button } from '../../controls/button.tsx'
import { MenuItem } from '../../controls/menu.tsx'
import { MeterBar } from '../../controls/meter-bar.tsx'
import { RowActions } from '../../controls/row-actions.tsx'
import { ScrollableTable } from '../../controls/scrollable-table.tsx'
import { toCount, toPercent } from '../../format/amounts.ts'
import { toMoney } from '../../format/money.ts'
import { toReset } from '../../format/times.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { RulePreview } from './rule-preview.tsx'
import type { Rule } from './rules.ts'

interface RuleTableProps {
  readonly rules: readonly Rule[]
  readonly disabledReasonOf: (rule: Rule) => string | undefined
  readonly onChange: (rule: Rule) => void
  readonly onRemove: (rule: Rule) => void
}

export function RuleTable({ rules, disabledReasonOf, onChange, onRemove }: RuleTableProps) {
  return (
    <ScrollableTable label="Limits" variant="rules">
      <thead>
        <tr>
          <th scope="col">Applies to</th>
          <th scope="col">Limit</th>
          <th scope="col">Used now</th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rules.map(rule => (
          <tr key={rule.id}>
            <td className="name text truncate">{rule.appliesTo}</td>
            <td>
              {rule.text}
              <code className="small code" title="The error code of a refused request">
                {rule.code}
              </code>
            </td>
            <td>
              <Used rule={rule} />
            </td>
            <td className="number">
              <RowActions name={`${rule.appliesTo}: ${rule.text}`} disabledReason={disabledReasonOf(rule)}>
                <MenuItem onSelect={() => onChange(rule)}>Change…</MenuItem>
                <MenuItem isDanger onSelect={() => onRemove(rule)}>
                  Remove…
                </MenuItem>
              </RowActions>
            </td>
          </tr>
        ))}
      </tbody>
    </ScrollableTable>
  )
}

function Used({ rule }: { rule: Rule }) {
  const { time_zone: timeZone } = useEnvironment().organization
  const [isAsked, setAsked] = useState(false)
  const { used, reserved, amount, resetsAt, isMoney, previewInput } = rule
  const format = isMoney ? toMoney : toCount
  const share = used === null ? 0 : amount === 0 ? 1 : used / amount
  return (
    <div className="used">
      {used !== null && (
        <>
          <span>
            {format(used)} ({toPercent(share)}){reserved > 0 && ` + ${format(reserved)} reserved`}
            {resetsAt !== null && (
              <span className="muted small reset">, {toReset(Date.parse(resetsAt), timeZone)}</span>
            )}
          </span>
          <MeterBar share={share} reserved={amount === 0 ? 0 : reserved / amount} />
        </>
      )}
      {previewInput === undefined ? (
        used === null && <span className="muted">counted as requests run</span>
      ) : isAsked ? (
        <span className="small">
          <RulePreview previewInput={previewInput} />
        </span>
      ) : (
        <Button small variant="quiet" onClick={() => setAsked(true)}>
          Try on last week
        </Button>
      )}
    </div>
  )
}
