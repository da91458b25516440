/** Returns the row with the fields that a PATCH sent; an absent field keeps its value. */
export function mergeChange<Row extends object, Change extends object>(
  row: Row,
  change: Change,
): Omit<Row, keyof Change> & { [Field in keyof Change]-?: Exclude<Change[Field], undefined> } {
  const sent = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  return { ...row, ...sent } as ReturnType<typeof mergeChange<Row, Change>>
}
