/** Returns true if a JSON value surely has more than `most` characters as JSON. Looks at no more of it than shows that. */
export function isLongJson(value: unknown, most: number): boolean {
  return leftOf(value, most) < 0
}

/** Returns how many of `left` characters a value leaves, without its escapes and the digits of its numbers; negative: too few. */
function leftOf(value: unknown, left: number): number {
  if (typeof value === 'string') return left - value.length - 2
  if (typeof value !== 'object' || value === null) return left - 1
  let rest = left - 2
  for (const [key, item] of Object.entries(value)) {
    if (rest < 0) return rest
    rest = leftOf(item, Array.isArray(value) ? rest : rest - key.length - 3)
  }
  return rest
}
