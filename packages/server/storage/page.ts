import type {
  Expression,
  ExpressionBuilder,
  ReferenceExpression,
  SelectQueryBuilder,
  SqlBool,
  StringReference,
} from 'kysely'

/** One page of a list that is ordered newest first: by a time, then by id. */
export interface Page {
  readonly limit: number
  /** Position of the previous page's last row. undefined: the first page. */
  readonly after: { readonly at: Date; readonly id: string } | undefined
}

/**
 * The query's rows on this page, newest first. A row that is inserted between two calls is newer than all that were
 * read, and a row that is deleted is skipped, so no later page repeats or misses a row.
 */
export function selectPage<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  page: Page,
  time: StringReference<DB, TB>,
  id: StringReference<DB, TB>,
): SelectQueryBuilder<DB, TB, Row> {
  return query
    .where(eb => isAfter(eb, time, id, page))
    .orderBy(time, 'desc')
    .orderBy(id, 'desc')
    .limit(page.limit)
}

/** True for rows that come after the page's start. */
export function isAfter<DB, TB extends keyof DB>(
  eb: ExpressionBuilder<DB, TB>,
  time: ReferenceExpression<DB, TB>,
  id: ReferenceExpression<DB, TB>,
  page: Page,
): Expression<SqlBool> {
  if (page.after === undefined) return eb.lit(true)
  return eb(eb.refTuple(time as never, id as never), '<', eb.tuple(page.after.at, page.after.id) as never)
}

/** The query's rows on this page, oldest first. */
export function selectPageOldestFirst<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  page: Page,
  time: StringReference<DB, TB>,
  id: StringReference<DB, TB>,
): SelectQueryBuilder<DB, TB, Row> {
  const { after } = page
  const rest =
    after === undefined
      ? query
      : query.where(eb =>
          eb(eb.refTuple(time as never, id as never), '>', eb.tuple(after.at, after.id) as never),
        )
  return rest.orderBy(time, 'asc').orderBy(id, 'asc').limit(page.limit)
}
