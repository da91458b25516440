import { defineOperation } from '../operation/operation.ts'
import { PlanResource, toPlanResource } from './plan-resource.ts'

export const getPlan = defineOperation('GET /v1/plans/{id}', {
  name: 'plans.get',
  summary: 'One plan.',
  access: { role: 'viewer', of: 'plan' },
  response: { 200: PlanResource },
  handle: async ({ resource }) => toPlanResource(resource),
})
