import { Fault } from '../../core/fault.ts'

/** What a write found; a resource that was removed between the check of its access and the write is not there. */
export function orGone<Row>(row: Row | undefined): Row {
  if (row === undefined)
    throw new Fault('resource_not_found', 'There is nothing by this id that you may see.')
  return row
}
