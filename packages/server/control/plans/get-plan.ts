import { defineGet } from '../operation/define-get.ts'
import { PlanResource, toPlanResource } from './plan-resource.ts'

export const getPlan = defineGet('plan', '/v1/plans/{id}', {
  name: 'plans.get',
  summary: 'One plan.',
  response: PlanResource,
  toResponse: toPlanResource,
})
