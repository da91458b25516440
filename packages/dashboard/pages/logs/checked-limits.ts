import { toCount } from '../../format/amounts.ts'
import { toMoney } from '../../format/money.ts'
import type { LogDetail } from './log-calls.ts'

type CheckedLimit = NonNullable<LogDetail['checked_limits']>[number]

const SCOPES = {
  org: "organization's",
  project: "project's",
  environment: "environment's",
  key: "key's",
  end_user: "end user's",
}

/** `, checked the key's limit (1 of 60 requests, 41 left)` or `, refused by the key's budget ($0.50 wanted, $0.20 of $10.00 left)` */
export function describeCheckedLimits(limits: readonly CheckedLimit[] | null): string {
  if (limits === null || limits.length === 0) return ''
  // A limit that had reserved something refused only further output.
  const all = limits.map(limit =>
    limit.refused === null || limit.reserved > 0
      ? `checked ${nameOf(limit)} (${toShares(limit)})${toRefusedRest(limit)}`
      : `refused by ${nameOf(limit)} (${amountOf(limit, limit.refused)} wanted, ${amountOf(limit, limit.remaining)} of ${amountOf(limit, limit.limit)}${unitOf(limit)} left)`,
  )
  return `, ${all.join(', ')}`
}

function nameOf({ scope, kind }: CheckedLimit): string {
  return `the ${SCOPES[scope]} ${kind}`
}

function toShares(checked: CheckedLimit): string {
  const { reserved, limit, remaining } = checked
  return `${amountOf(checked, reserved)} of ${amountOf(checked, limit)}${unitOf(checked)}, ${amountOf(checked, remaining)} left`
}

function toRefusedRest(checked: CheckedLimit): string {
  return checked.refused === null ? '' : `, which refused ${amountOf(checked, checked.refused)} more`
}

function amountOf({ metric }: CheckedLimit, amount: number): string {
  return metric === 'usd' ? toMoney(amount) : toCount(amount)
}

function unitOf({ metric }: CheckedLimit): string {
  return metric === 'usd' ? '' : metric === 'concurrency' ? ' running' : ` ${metric}`
}
