import { clearDefaultPlan, insertPlan } from '../../storage/policies/plans.ts'
import type { PlanRow } from '../../storage/policy-tables.ts'
import { newRecord, ownerColumns } from '../operation/new-record.ts'
import { defineOperation } from '../operation/operation.ts'
import { orConflict } from '../operation/or-conflict.ts'
import { NewPlan, toPlanSettings } from './plan-body.ts'
import { PlanResource, toPlanResource } from './plan-resource.ts'

const UNBOUND = {
  allowed_models: null,
  scopes: null,
  requests_per_minute: null,
  max_concurrency: null,
  tokens_per_day: null,
  nano_usd_per_month: null,
  is_default: false,
}

export const createPlan = defineOperation('POST /v1/environments/{envId}/plans', {
  name: 'plans.create',
  summary:
    'Creates a plan, which limits the end users assigned to it. An absent bound does not limit anything.',
  access: { role: 'developer', of: 'environment' },
  body: NewPlan,
  response: { 201: PlanResource },
  faults: ['invalid_scope', 'resource_conflict'],
  handle: async ({ services, resource, body }) => {
    const row: PlanRow = {
      ...newRecord(services),
      ...ownerColumns(resource),
      name: body.name,
      ...UNBOUND,
      ...toPlanSettings(body),
      deleted_at: null,
    }
    const insert = services.db.transaction().execute(async tx => {
      if (row.is_default) await clearDefaultPlan(tx, resource.id, row.created_at)
      return await insertPlan(tx, row)
    })
    return toPlanResource(await orConflict(insert, 'plans_name', 'name'))
  },
})
