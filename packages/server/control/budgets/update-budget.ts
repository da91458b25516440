import { lockBudget, updateBudget as storeBudget } from '../../storage/policies/budgets.ts'
import { mergeScopeChange } from '../operation/merge-change.ts'
import { toNanoUsd } from '../operation/money.ts'
import { defineOperation } from '../operation/operation.ts'
import { orResourceNotFound } from '../operation/or-not-found.ts'
import { BudgetChange, parseBudgetScope } from './budget-body.ts'
import { BudgetResource, completeBudget, toBudgetResource } from './budget-resource.ts'
import { measureBudget } from './measure-budgets.ts'

export const updateBudget = defineOperation('PATCH /v1/budgets/{id}', {
  name: 'budgets.update',
  summary: 'Changes a budget. Spend in the current window still counts.',
  access: { role: 'admin', of: 'budget' },
  body: BudgetChange,
  response: { 200: BudgetResource },
  handle: async ({ services, resource, body }) => {
    const { limit_usd, ...rest } = body
    // Locks the row: what another call changed since the caller was admitted stays.
    const stored = orResourceNotFound(await lockBudget(services.db, resource.id))
    const { limit_nano_usd, window, scope, scope_ref, alert_pcts, on_tight } = mergeScopeChange(stored, rest)
    const merged = {
      limit_nano_usd: limit_usd === undefined ? limit_nano_usd : toNanoUsd(limit_usd),
      window,
      scope,
      scope_ref,
      alert_pcts: alert_pcts ?? [],
      on_tight: on_tight ?? 'cap',
    }
    const settings = await parseBudgetScope(services.db, stored, merged, stored)
    const now = new Date(services.clock.now())
    const row = orResourceNotFound(await storeBudget(services.db, resource.id, settings, now))
    return toBudgetResource(await measureBudget(services, row))
  },
  complete: completeBudget,
})
