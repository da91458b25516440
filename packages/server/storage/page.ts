import type { Expression, ExpressionBuilder, ReferenceExpression, SqlBool } from 'kysely'

/** One page of a list that is ordered newest first, by time and then by id. */
export interface Page {
  readonly limit: number
  /** The last record of the page before; undefined: the first page. */
  readonly after: { readonly at: Date; readonly id: string } | undefined
}

/** What comes after the page's start. A record inserted meanwhile is newer and so moves no later page. */
export function isAfter<DB, TB extends keyof DB>(
  eb: ExpressionBuilder<DB, TB>,
  time: ReferenceExpression<DB, TB>,
  id: ReferenceExpression<DB, TB>,
  page: Page,
): Expression<SqlBool> {
  if (page.after === undefined) return eb.lit(true)
  return eb(eb.refTuple(time as never, id as never), '<', eb.tuple(page.after.at, page.after.id) as never)
}
