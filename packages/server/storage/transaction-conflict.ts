import { DatabaseError } from 'pg'

const SERIALIZATION_FAILURE = '40001'
const DEADLOCK_DETECTED = '40P01'

/** True if PostgreSQL rolled a transaction back so that another one could go on. The same transaction may succeed if it is repeated. */
export function isTransactionConflict(error: unknown): boolean {
  return (
    error instanceof DatabaseError &&
    (error.code === DEADLOCK_DETECTED || error.code === SERIALIZATION_FAILURE)
  )
}
