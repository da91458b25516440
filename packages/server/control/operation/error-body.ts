import { FAULTS, type FaultCode } from '../../core/fault-table.ts'
import { z } from './zod.ts'

/**
 * The schema of the error envelope in the OpenAPI document; llm/formats/shared/errors/error-envelope.ts creates the
 * envelope.
 */
export const ErrorBody = z
  .strictObject({
    error: z.strictObject({
      type: z.enum([...new Set(Object.values(FAULTS).map(entry => entry.type))]),
      code: z.enum(Object.keys(FAULTS) as [FaultCode, ...FaultCode[]]),
      message: z.string(),
      param: z.string().nullable(),
      request_id: z.string(),
      doc_url: z.string(),
    }),
  })
  .meta({ id: 'Error', description: 'The body of every error response.' })
