import { Fault } from '../../core/fault.ts'
import { SCOPES, type Scope } from '../../core/tenancy/tenancy.ts'
import type { PlanRow } from '../../storage/policy-tables.ts'
import { allowedModelsField } from '../operation/allowed-models-field.ts'
import { textField } from '../operation/fields.ts'
import { toNanoUsd, usdField } from '../operation/money.ts'
import { scopesField } from '../operation/scopes-field.ts'
import { z } from '../operation/zod.ts'

const bound = z.int().min(0).nullish()

const planFields = {
  // Client tokens contain the name of the plan.
  name: textField(64),
  allowed_models: allowedModelsField.nullish(),
  scopes: scopesField.nullish(),
  requests_per_minute: bound,
  max_concurrency: bound,
  tokens_per_day: bound,
  usd_per_month: usdField.nullish(),
  is_default: z.boolean().nullish().meta({
    description: 'At most one plan of an environment is the default; a new default replaces the old one.',
  }),
}

export const NewPlan = z.strictObject(planFields).meta({ id: 'NewPlan' })
export const PlanChange = z.strictObject(planFields).partial().meta({ id: 'PlanChange' })

/** Converts a body to columns of a plan. Fields that were not sent are absent; null means no bound. */
export function toPlanSettings(body: z.output<typeof PlanChange>): Partial<PlanRow> {
  const { scopes, usd_per_month, is_default, ...rest } = body
  const sent = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  return {
    ...sent,
    ...(scopes === undefined ? {} : { scopes: scopes === null ? null : parseScopes(scopes) }),
    ...(usd_per_month === undefined
      ? {}
      : { nano_usd_per_month: usd_per_month === null ? null : toNanoUsd(usd_per_month) }),
    ...(is_default === undefined ? {} : { is_default: is_default ?? false }),
  }
}

function parseScopes(names: readonly string[]): Scope[] {
  const scopes = SCOPES.filter(scope => names.includes(scope))
  if (names.length === 0 || names.some(name => !scopes.includes(name as Scope))) {
    throw new Fault('invalid_scope', `scopes must be one or more of ${SCOPES.join(', ')}.`, {
      param: 'scopes',
    })
  }
  return scopes
}
