import { toUsd } from '@rideau/llm/usage/money'
import { findBudget } from '../../storage/policies/budgets.ts'
import type { BudgetRow } from '../../storage/policy-tables.ts'
import { completeBy } from '../operation/complete-by.ts'
import { dateTime, stamps, toDateTime, toStamps, uuid } from '../operation/fields.ts'
import { storedFields } from '../operation/stored-fields.ts'
import { z } from '../operation/zod.ts'
import { BUDGET_SCOPES, BUDGET_WINDOWS, ON_TIGHT } from './budget-body.ts'
import { type MeasuredBudget, measureSpend } from './measure-budgets.ts'

const settings = {
  id: uuid,
  org_id: uuid,
  /** null: a budget of the organization. */
  project_id: uuid.nullable(),
  scope: z.enum(BUDGET_SCOPES).nullable(),
  scope_ref: z.string().nullable(),
  window: z.enum(BUDGET_WINDOWS),
  limit_usd: z.number(),
  alert_pcts: z.array(z.int()),
  on_tight: z.enum(ON_TIGHT),
  ...stamps,
}

export const BudgetResource = z
  .strictObject({
    ...settings,
    spent_usd: z.number(),
    reserved_usd: z.number().nullable().meta({
      description:
        "Reserved by running requests; null if the control plane cannot read the gateway's counters.",
    }),
    projected_usd: z.number().nullable().meta({
      description:
        'An estimate of what will be spent when the window ends: what is spent, and the mean of the last 7 whole days for the time that is left. null: the window never ends, or those days had no requests.',
    }),
    resets_at: dateTime.nullable(),
  })
  .meta({ id: 'Budget' })

export function toBudgetResource(budget: MeasuredBudget): z.output<typeof BudgetResource> {
  return {
    ...toBudgetRecord(budget),
    spent_usd: toUsd(budget.spent_nano_usd) ?? 0,
    reserved_usd: toUsd(budget.reserved_nano_usd),
    projected_usd: toUsd(budget.projected_nano_usd),
    resets_at: toDateTime(budget.resets_at),
  }
}

/** Returns the settings of a budget without its spend. */
export function toBudgetRecord(row: BudgetRow) {
  return {
    ...storedFields(BudgetResource, row),
    limit_usd: toUsd(row.limit_nano_usd) ?? 0,
    ...toStamps(row),
  }
}

/** The estimate of the write stays: it is made of the last whole days. */
export const completeBudget = completeBy<BudgetRow, z.output<typeof BudgetResource>>(
  findBudget,
  async (services, row) => {
    const { spent, reserved } = await measureSpend(services, row)
    return { spent_usd: toUsd(spent) ?? 0, reserved_usd: toUsd(reserved) }
  },
)
