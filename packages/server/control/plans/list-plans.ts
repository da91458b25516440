import { listPlans as loadPlans } from '../../storage/policies/plans.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { PlanResource, toPlanResource } from './plan-resource.ts'

export const listPlans = defineOperation('GET /v1/environments/{envId}/plans', {
  name: 'plans.list',
  summary: "An environment's plans, newest first.",
  access: { role: 'viewer', of: 'environment' },
  query: z.strictObject(pageQuery),
  response: { 200: listOf(PlanResource) },
  handle: ({ services, resource, query }) =>
    loadPage(
      query,
      ['plans.list', resource.id],
      page => loadPlans(services.db, resource.id, page),
      toPlanResource,
    ),
})
