import { listRequestLogs } from '../../storage/request-log-list.ts'
import { dateTimeField, integerParam, textField, uuidField } from '../fields.ts'
import { defineOperation } from '../operation.ts'
import { listOf, loadPage, pageQuery } from '../pagination.ts'
import { z } from '../zod.ts'
import { LogResource, toLogResource } from './log-resource.ts'

export const listLogs = defineOperation({
  name: 'logs.list',
  summary: "An environment's requests, newest first, without their bodies.",
  method: 'GET',
  path: '/v1/environments/{envId}/logs',
  access: { role: 'viewer', of: 'environment' },
  query: z.strictObject({
    ...pageQuery,
    status: integerParam(100, 599).optional(),
    error_code: textField(64).optional(),
    model: textField(256).optional().meta({ description: 'As asked for, as answered, or `provider/model`.' }),
    provider: textField(64).optional(),
    key_id: uuidField.optional(),
    from: dateTimeField.optional().meta({ description: 'Inclusive.' }),
    to: dateTimeField.optional().meta({ description: 'Exclusive.' }),
  }),
  response: { 200: listOf(LogResource) },
  handle: ({ services, resource, query }) => {
    const { limit: _limit, cursor: _cursor, ...filter } = query
    return loadPage(
      query,
      ['logs.list', resource.id, filter],
      page =>
        listRequestLogs(
          services.db,
          resource.id,
          {
            status: filter.status,
            errorCode: filter.error_code,
            model: filter.model,
            provider: filter.provider,
            keyId: filter.key_id,
            from: filter.from === undefined ? undefined : new Date(filter.from),
            to: filter.to === undefined ? undefined : new Date(filter.to),
          },
          page,
        ),
      row => row.at,
      toLogResource,
    )
  },
})
