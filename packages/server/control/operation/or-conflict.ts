import { Fault } from '../../core/fault.ts'
import { isUniqueViolation } from '../../storage/unique-violation.ts'

/**
 * A write, of which the unique index refuses what is taken: 409 `resource_conflict`. A look before the write would leave
 * room for another one in between.
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
