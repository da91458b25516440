import { DatabaseError } from 'pg'

const FOREIGN_KEY_VIOLATION = '23503'

/** True if an insert or update failed because a row that it refers to does not exist, or a removal because rows refer to it. */
export function isMissingReference(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === FOREIGN_KEY_VIOLATION
}
