import { defineOperation } from '../operation/operation.ts'
import { PlanResource, toPlanResource } from './plan-resource.ts'

export const getPlan = defineOperation({
  name: 'plans.get',
  summary: 'One plan.',
  method: 'GET',
  path: '/v1/plans/{id}',
  access: { role: 'viewer', of: 'plan' },
  response: { 200: PlanResource },
  handle: async ({ resource }) => toPlanResource(resource),
})
