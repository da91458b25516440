import type { IncomingMessage } from 'node:http'
import { Fault } from '../../core/fault.ts'
import { isRepeatedHeader } from './is-repeated-header.ts'

const HEADER = 'idempotency-key'
export const MAX_KEY_CHARS = 255
const KEY = /^[\x20-\x7e]{1,255}$/

/** Returns the value of `Idempotency-Key`; undefined without one. Throws `request_validation_failed`. */
export function readIdempotencyKey(req: IncomingMessage): string | undefined {
  const key = req.headers[HEADER]
  if (key === undefined) return undefined
  if (typeof key === 'string' && KEY.test(key) && !isRepeatedHeader(req, HEADER)) return key
  throw new Fault(
    'request_validation_failed',
    `Idempotency-Key: must be sent once, with 1 to ${MAX_KEY_CHARS} printable ASCII characters.`,
    { param: 'Idempotency-Key' },
  )
}
