import { DatabaseError } from 'pg'

/** Did the write fail because this unique index has such a row? */
export function isTaken(error: unknown, index: string): boolean {
  return error instanceof DatabaseError && error.code === '23505' && error.constraint === index
}
