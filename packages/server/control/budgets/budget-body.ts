import { Fault } from '../../core/fault.ts'
import type { OnTight } from '../../core/tenancy/policies.ts'
import type { BudgetRow } from '../../storage/policy-tables.ts'
import type { Db } from '../../storage/pool.ts'
import { uuidField } from '../operation/fields.ts'
import { toNanoUsd, usdField } from '../operation/money.ts'
import { parseScopeRef, type StoredScope } from '../operation/scope-ref.ts'
import { z } from '../operation/zod.ts'

export const BUDGET_SCOPES = ['environment', 'key'] as const
export const ON_TIGHT = ['cap', 'refuse'] as const satisfies readonly OnTight[]
export const BUDGET_WINDOWS = ['day', 'week', 'month', 'total'] as const

const budgetFields = {
  limit_usd: usdField,
  window: z.enum(BUDGET_WINDOWS),
  scope: z.enum(BUDGET_SCOPES).nullish().meta({ description: 'Default: the whole organization or project.' }),
  scope_ref: uuidField.nullish(),
  alert_pcts: z
    .array(z.int().min(1).max(1000))
    .max(20)
    .nullish()
    .meta({ description: 'Percentages of limit_usd; each raises `budget.alert` once per window.' }),
  on_tight: z.enum(ON_TIGHT).nullish().meta({
    description:
      'What happens to a request whose explicit maximum of output tokens does not fit what is left: `cap` (default) lowers the maximum and names it in `X-Rideau-Output-Cap`, `refuse` answers 402 `budget_exceeded`.',
  }),
}

export const NewBudget = z.strictObject(budgetFields).meta({ id: 'NewBudget' })
export const BudgetChange = z.strictObject(budgetFields).partial().meta({ id: 'BudgetChange' })

/** The settings of a budget, with the limit in whole nano-dollars. */
export type BudgetSettings = Pick<
  BudgetRow,
  'limit_nano_usd' | 'window' | 'scope' | 'scope_ref' | 'alert_pcts' | 'on_tight'
>

export function toBudgetSettings(body: z.output<typeof NewBudget>): BudgetSettings {
  return {
    limit_nano_usd: toNanoUsd(body.limit_usd),
    window: body.window,
    scope: body.scope ?? null,
    scope_ref: body.scope_ref ?? null,
    alert_pcts: body.alert_pcts ?? [],
    on_tight: body.on_tight ?? 'cap',
  }
}

/** Returns the settings with a checked scope. Throws 400 if scope_ref does not exist in the organization or project. */
export async function parseBudgetScope(
  db: Db,
  owner: Pick<BudgetRow, 'org_id' | 'project_id'>,
  settings: BudgetSettings,
  stored?: StoredScope,
): Promise<BudgetSettings> {
  const { scope, scope_ref } = settings
  const alert_pcts = [...new Set(settings.alert_pcts)].sort((a, b) => a - b)
  if (scope === null) {
    if (scope_ref === null) return { ...settings, alert_pcts }
    throw new Fault('invalid_request', 'scope_ref must be absent without a scope.', { param: 'scope_ref' })
  }
  const below = { ...owner, environment_id: null }
  return { ...settings, alert_pcts, scope_ref: await parseScopeRef(db, below, scope, scope_ref, stored) }
}
