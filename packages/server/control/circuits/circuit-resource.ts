import type { CircuitRow } from '../../storage/event-tables.ts'
import { dateTime, environmentIds, toDateTime, uuid } from '../operation/fields.ts'
import { storedFields } from '../operation/stored-fields.ts'
import { z } from '../operation/zod.ts'

export const CircuitResource = z
  .strictObject({
    ...environmentIds,
    provider: z.string(),
    model: z.string().meta({ description: '`provider/model`.' }),
    credential_id: uuid,
    state: z.enum(['closed', 'open', 'half_open']).meta({
      description: '`half_open`: the next request is a probe, or one is under way.',
    }),
    failure_rate: z.number().meta({ description: 'The share of failed calls when it last opened, 0 to 1.' }),
    opened_at: dateTime.meta({ description: 'When it last opened.' }),
    retry_at: dateTime.nullable().meta({ description: 'When the next probe is due; null: it is closed.' }),
    updated_at: dateTime,
  })
  .meta({ id: 'Circuit' })

export function toCircuitResource(row: CircuitRow, now: number): z.output<typeof CircuitResource> {
  const isDue = row.retry_at !== null && row.retry_at.getTime() <= now
  return {
    ...storedFields(CircuitResource, row),
    model: `${row.provider}/${row.model}`,
    state: row.state === 'open' && isDue ? 'half_open' : row.state,
    opened_at: row.opened_at.toISOString(),
    retry_at: toDateTime(row.retry_at),
    updated_at: row.updated_at.toISOString(),
  }
}
