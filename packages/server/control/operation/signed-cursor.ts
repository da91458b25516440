import { timingSafeEqual } from 'node:crypto'
import { Fault } from '../../core/fault.ts'
import type { SecretBox } from '../../core/secret-box.ts'

/**
 * A cursor goes out with a signature before it, and comes in without: nobody can make one up, and no list need know.
 * What it is bound to is the list's own matter (pagination.ts).
 */
const SIGNATURE_BYTES = 16
const PURPOSE = 'cursor'

/** The answer of a list, its cursor signed; any other answer as it is. */
export function signCursor(result: unknown, secretBox: SecretBox): unknown {
  if (typeof result !== 'object' || result === null || !('next_cursor' in result)) return result
  const { next_cursor } = result
  if (typeof next_cursor !== 'string') return result
  const cursor = Buffer.from(next_cursor, 'base64url')
  return { ...result, next_cursor: Buffer.concat([sign(cursor, secretBox), cursor]).toString('base64url') }
}

/** The query with the cursor as its list made it. */
export function openCursor(query: unknown, secretBox: SecretBox): unknown {
  if (typeof query !== 'object' || query === null || !('cursor' in query)) return query
  if (typeof query.cursor !== 'string') return query
  const bytes = Buffer.from(query.cursor, 'base64url')
  const cursor = bytes.subarray(SIGNATURE_BYTES)
  const signature = bytes.subarray(0, SIGNATURE_BYTES)
  const isOurs =
    signature.length === SIGNATURE_BYTES &&
    timingSafeEqual(signature, sign(cursor, secretBox)) &&
    // What base64 skips or rounds off would let one cursor be written in many ways.
    bytes.toString('base64url') === query.cursor
  if (!isOurs) {
    throw new Fault('invalid_request', 'The cursor is not one of this route and filter.', { param: 'cursor' })
  }
  return { ...query, cursor: cursor.toString('base64url') }
}

function sign(cursor: Buffer, secretBox: SecretBox): Buffer {
  return secretBox.sign(cursor, PURPOSE).subarray(0, SIGNATURE_BYTES)
}
