import { Fault } from '../../core/fault.ts'

/** Returns the row that a write found. Throws 404 if the resource was removed after the access check. */
export function orResourceNotFound<Row>(row: Row | undefined): Row {
  return orNotFound(row, 'No resource has this id, or you may not see it.')
}

/** Throws 404 unless the call itself removed the resource: another one may have done so after the access check. */
export function assertRemoved(isRemoved: boolean): void {
  if (!isRemoved) orResourceNotFound(undefined)
}

/** Returns the settings of a resource that the caller may see. Throws 404 with the message if there are none. */
export function orNotFound<Row>(row: Row | undefined, message: string): Row {
  if (row === undefined) throw new Fault('resource_not_found', message)
  return row
}
