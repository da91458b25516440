import { Fault } from '../../core/fault.ts'

/** Returns the row that a write found. Throws 404 if the resource was removed after the access check. */
export function orGone<Row>(row: Row | undefined): Row {
  if (row === undefined)
    throw new Fault('resource_not_found', 'No resource has this id, or you may not see it.')
  return row
}
