import { listEnvironmentLimits as loadLimits } from '../../storage/policies/limits.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { LimitResource, toLimitResource } from './limit-resource.ts'
import { measureLimits } from './measure-limits.ts'

export const listEnvironmentLimits = defineOperation('GET /v1/environments/{envId}/limits', {
  name: 'limits.list',
  summary: "An environment's rate limits, newest first.",
  access: { role: 'viewer', of: 'environment' },
  query: z.strictObject(pageQuery),
  response: { 200: listOf(LimitResource) },
  handle: ({ services, resource, query }) =>
    loadPage(
      query,
      ['limits.list', resource.id],
      async page => measureLimits(services, await loadLimits(services.db, resource.id, page)),
      toLimitResource,
    ),
})
