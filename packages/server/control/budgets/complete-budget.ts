import { findBudget } from '../../storage/policies/budgets.ts'
import type { Services } from '../operation/operation.ts'
import type { z } from '../operation/zod.ts'
import { type BudgetResource, toBudgetResource } from './budget-resource.ts'
import { measureBudget } from './measure-budgets.ts'

type Budget = z.output<typeof BudgetResource>

/** Returns the budget of a write with the figures of its counter; unchanged if it was removed meanwhile. */
export async function completeBudget(
  { services }: { readonly services: Services },
  written: Budget,
): Promise<Budget> {
  const row = await findBudget(services.db, written.id)
  return row === undefined ? written : toBudgetResource(await measureBudget(services, row))
}
