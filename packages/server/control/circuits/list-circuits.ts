import { listCircuits as listStoredCircuits } from '../../storage/models/circuits.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPageBy, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { CircuitResource, toCircuitResource } from './circuit-resource.ts'

export const listCircuits = defineOperation('GET /v1/environments/{envId}/circuits', {
  name: 'circuits.list',
  summary:
    'The targets of an environment whose circuit opened, the last opened first. A circuit that nobody used for ten minutes is left out.',
  access: { role: 'viewer', of: 'environment' },
  query: z.strictObject(pageQuery),
  response: { 200: listOf(CircuitResource) },
  handle: ({ services, resource, query }) => {
    const now = services.clock.now()
    return loadPageBy(
      query,
      ['circuits.list', resource.id],
      page => listStoredCircuits(services.db, resource.id, new Date(now), page),
      row => row.opened_at,
      row => toCircuitResource(row, now),
    )
  },
})
