import { clearDefaultPlan, updatePlan as storePlan } from '../../storage/policies/plans.ts'
import { defineOperation } from '../operation/operation.ts'
import { orConflict } from '../operation/or-conflict.ts'
import { orResourceNotFound } from '../operation/or-not-found.ts'
import { PlanChange, toPlanSettings } from './plan-body.ts'
import { PlanResource, toPlanResource } from './plan-resource.ts'

export const updatePlan = defineOperation('PATCH /v1/plans/{id}', {
  name: 'plans.update',
  summary: 'Changes a plan, and with it the limits of its end users. `null` removes a bound.',
  access: { role: 'developer', of: 'plan' },
  body: PlanChange,
  response: { 200: PlanResource },
  faults: ['invalid_scope', 'resource_conflict'],
  handle: async ({ services, resource, body }) => {
    const now = new Date(services.clock.now())
    const change = toPlanSettings(body)
    const update = services.db.transaction().execute(async tx => {
      if (change.is_default === true) await clearDefaultPlan(tx, resource.environment_id, now)
      return await storePlan(tx, resource.id, change, now)
    })
    return toPlanResource(orResourceNotFound(await orConflict(update, 'plans_name', 'name')))
  },
})
