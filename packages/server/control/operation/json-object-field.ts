import type { FaultCode } from '../../core/fault-table.ts'
import { isLongJson } from '../../core/records/is-long-json.ts'
import { isStorable } from '../../core/records/storable-json.ts'
import { z } from './zod.ts'

/**
 * A JSON object of at most `maxBytes` that the caller defines, stored as jsonb. Of one that is far too long nothing is checked further, and
 * it is refused with `fault`. The handler counts the bytes.
 */
export function jsonObjectField(maxBytes: number, fault: FaultCode) {
  return z
    .record(z.string(), z.unknown())
    .refine(value => !isLongJson(value, maxBytes), {
      error: `must have at most ${maxBytes} bytes of JSON`,
      params: { fault },
      abort: true,
    })
    .refine(isStorable, 'must be plain JSON without NUL')
}
