import { DatabaseError } from 'pg'

const UNIQUE_VIOLATION = '23505'

/** True if a write failed because of this unique constraint or index. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return error instanceof DatabaseError && error.code === UNIQUE_VIOLATION && error.constraint === constraint
}
