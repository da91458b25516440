import { timingSafeEqual } from 'node:crypto'
import type { SecretBox } from '../../core/access/secret-box.ts'
import { Fault } from '../../core/fault.ts'

/**
 * Cursors are signed in responses and checked in requests, so that none can be forged and no list needs to know of it. A
 * list binds its cursors to its own route and filter (pagination.ts).
 */
const SIGNATURE_BYTES = 16
const PURPOSE = 'cursor'

/** Returns the result with its cursor signed; a result without a cursor is returned unchanged. */
export function signCursor(result: unknown, secretBox: SecretBox): unknown {
  if (typeof result !== 'object' || result === null || !('next_cursor' in result)) return result
  const { next_cursor } = result
  if (typeof next_cursor !== 'string') return result
  const cursor = Buffer.from(next_cursor, 'base64url')
  return { ...result, next_cursor: Buffer.concat([sign(cursor, secretBox), cursor]).toString('base64url') }
}

/** Returns the query with the cursor as its list created it. */
export function openCursor(query: unknown, secretBox: SecretBox): unknown {
  if (typeof query !== 'object' || query === null || !('cursor' in query)) return query
  if (typeof query.cursor !== 'string') return query
  const bytes = Buffer.from(query.cursor, 'base64url')
  const cursor = bytes.subarray(SIGNATURE_BYTES)
  const signature = bytes.subarray(0, SIGNATURE_BYTES)
  const isAuthentic =
    signature.length === SIGNATURE_BYTES &&
    timingSafeEqual(signature, sign(cursor, secretBox)) &&
    // base64url has several spellings of the same bytes; only the canonical one is accepted.
    bytes.toString('base64url') === query.cursor
  if (!isAuthentic) {
    throw new Fault('invalid_request', 'The cursor is not one of this route and filter.', {
      param: 'cursor',
    })
  }
  return { ...query, cursor: cursor.toString('base64url') }
}

function sign(cursor: Buffer, secretBox: SecretBox): Buffer {
  return secretBox.sign(cursor, PURPOSE).subarray(0, SIGNATURE_BYTES)
}
