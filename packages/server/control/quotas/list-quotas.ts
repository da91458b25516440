import { listQuotas as loadQuotas } from '../../storage/policies/quotas.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { measureQuotas } from './measure-quotas.ts'
import { QuotaResource, toQuotaResource } from './quota-resource.ts'

export const listQuotas = defineOperation('GET /v1/environments/{envId}/quotas', {
  name: 'quotas.list',
  summary: "An environment's quotas, newest first, with the usage of each.",
  access: { role: 'viewer', of: 'environment' },
  query: z.strictObject(pageQuery),
  response: { 200: listOf(QuotaResource) },
  handle: ({ services, resource, query }) =>
    loadPage(
      query,
      ['quotas.list', resource.id],
      async page =>
        measureQuotas(services, resource.org_id, await loadQuotas(services.db, resource.id, page)),
      toQuotaResource,
    ),
})
