/** Returns the row with the fields that a PATCH sent; an absent field keeps its value. */
export function mergeChange<Row extends object, Change extends object>(
  row: Row,
  change: Change,
): Omit<Row, keyof Change> & { [Field in keyof Change]-?: Exclude<Change[Field], undefined> } {
  const sent = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  return { ...row, ...sent } as ReturnType<typeof mergeChange<Row, Change>>
}

/** The same for a rule. Another scope without a `scope_ref` starts without one: the stored one names something of the old scope. */
export function mergeScopeChange<
  Row extends { scope: string | null; scope_ref: string | null },
  Change extends { scope?: string | null | undefined; scope_ref?: string | null | undefined },
>(row: Row, change: Change): ReturnType<typeof mergeChange<Row, Change>> {
  const isOther = change.scope !== undefined && change.scope !== row.scope
  return mergeChange(isOther ? { ...row, scope_ref: null } : row, change)
}
