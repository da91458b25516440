import type { Db } from '../../storage/pool.ts'
import type { Services } from './operation.ts'

/**
 * Returns the `complete` of operations that write a rule with a counter: the answer gets the figures of that counter in place of those
 * that the write had by the usage records. It stays as it is if the rule was removed meanwhile.
 */
export function completeBy<Row, Resource extends { readonly id: string }>(
  find: (db: Db, id: string) => Promise<Row | undefined>,
  readFigures: (services: Services, row: Row) => Promise<Partial<Resource>>,
) {
  return async ({ services }: { readonly services: Services }, written: Resource): Promise<Resource> => {
    const row = await find(services.db, written.id)
    return row === undefined ? written : { ...written, ...(await readFigures(services, row)) }
  }
}
