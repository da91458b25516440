import { Fault } from '../../core/fault.ts'
import { isUniqueViolation } from '../../storage/unique-violation.ts'

/**
 * Awaits a write. Throws 409 `resource_conflict` if it violates the unique index. A check before the write would allow a
 * concurrent write in between.
 */
export async function orConflict<Result>(
  write: Promise<Result>,
  index: string,
  param: string,
): Promise<Result> {
  try {
    return await write
  } catch (error) {
    if (!isUniqueViolation(error, index)) throw error
    throw new Fault('resource_conflict', `This ${param} is taken.`, { param })
  }
}
