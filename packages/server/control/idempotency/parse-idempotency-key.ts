import { Fault } from '../../core/fault.ts'

export const MAX_KEY_CHARS = 255

/** Returns the value of `Idempotency-Key`; undefined: it was not sent. Throws for one that is empty or too long. */
export function parseIdempotencyKey(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  if (typeof header === 'string' && header.length > 0 && header.length <= MAX_KEY_CHARS) return header
  throw new Fault(
    'request_validation_failed',
    `Idempotency-Key: must have 1 to ${MAX_KEY_CHARS} characters.`,
    { param: 'Idempotency-Key' },
  )
}
