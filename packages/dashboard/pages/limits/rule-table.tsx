import { useState } from 'react'
import { Button } from '../../controls/button.tsx'
import { Menu, MenuItem } from '../../controls/menu.tsx'
import { TableFrame } from '../../controls/table-frame.tsx'
import { toCount, toPercent } from '../../format/amounts.ts'
import { toMoney } from '../../format/money.ts'
import { toReset } from '../../format/times.ts'
import { usePlace } from '../../session/place-context.tsx'
import { LastWeek } from './last-week.tsx'
import type { Rule } from './rules.ts'

interface RuleTableProps {
  readonly rules: readonly Rule[]
  readonly objectionOf: (rule: Rule) => string | undefined
  readonly onChange: (rule: Rule) => void
  readonly onRemove: (rule: Rule) => void
}

export function RuleTable({ rules, objectionOf, onChange, onRemove }: RuleTableProps) {
  return (
    <TableFrame label="Limits" look="rules">
      <thead>
        <tr>
          <th scope="col">Whom</th>
          <th scope="col">What</th>
          <th scope="col">Used now</th>
          <th scope="col">
            <span className="only-heard">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rules.map(rule => {
          const label = `Actions for ${rule.whom}: ${rule.says}`
          const objection = objectionOf(rule)
          return (
            <tr key={rule.id}>
              <td className="name text cut">{rule.whom}</td>
              <td>
                {rule.says}
                <code className="small code" title="The error code of a refused request">
                  {rule.code}
                </code>
              </td>
              <td>
                <Used rule={rule} />
              </td>
              <td className="number">
                {objection !== undefined ? (
                  <Button small look="quiet" objection={objection} aria-label={label}>
                    ⋯
                  </Button>
                ) : (
                  <Menu
                    align="end"
                    trigger={
                      <Button small look="quiet" aria-label={label}>
                        ⋯
                      </Button>
                    }
                  >
                    <MenuItem onSelect={() => onChange(rule)}>Change…</MenuItem>
                    <MenuItem isDanger onSelect={() => onRemove(rule)}>
                      Remove…
                    </MenuItem>
                  </Menu>
                )}
              </td>
            </tr>
          )
        })}
      </tbody>
    </TableFrame>
  )
}

function Used({ rule }: { rule: Rule }) {
  const { time_zone: timeZone } = usePlace().organization
  const [isAsked, setAsked] = useState(false)
  const { used, reserved, amount, resetsAt, isMoney, question } = rule
  const format = isMoney ? toMoney : toCount
  const share = used === null ? 0 : amount === 0 ? 1 : used / amount
  return (
    <div className="used">
      {used !== null && (
        <>
          <span>
            {format(used)} ({toPercent(share)}){reserved > 0 && ` + ${format(reserved)} reserved`}
            {resetsAt !== null && (
              <span className="muted small wide">, {toReset(Date.parse(resetsAt), timeZone)}</span>
            )}
          </span>
          <span className="used-bar" aria-hidden="true">
            <span className={share >= 1 ? 'over' : ''} style={{ width: `${Math.min(100, share * 100)}%` }} />
          </span>
        </>
      )}
      {question === undefined ? (
        used === null && <span className="muted">counted as requests run</span>
      ) : isAsked ? (
        <span className="small">
          <LastWeek question={question} />
        </span>
      ) : (
        <span className="wide">
          <Button small look="quiet" onClick={() => setAsked(true)}>
            Try on last week
          </Button>
        </span>
      )}
    </div>
  )
}
