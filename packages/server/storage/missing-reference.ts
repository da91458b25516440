import { DatabaseError } from 'pg'

const FOREIGN_KEY_VIOLATION = '23503'

/** True if a write failed because a row that it refers to does not exist. */
export function isMissingReference(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === FOREIGN_KEY_VIOLATION
}
