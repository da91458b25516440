import { hash } from 'node:crypto'

/** Allow-lists are immutable, and a list of a thousand entries would take as many comparisons for each model. */
const sets = new WeakMap<readonly string[], ReadonlySet<string>>()

/** Returns the entries of an allow-list as a set, which is made once for a list. */
export function toAllowSet(allowed: readonly string[]): ReadonlySet<string> {
  const known = sets.get(allowed)
  if (known !== undefined) return known
  const set = new Set(allowed)
  sets.set(allowed, set)
  return set
}

const names = new WeakMap<readonly string[], string>()

/** Returns a text that only lists with the same entries share; null stands for every model. */
export function nameAllowList(allowed: readonly string[] | null): string {
  if (allowed === null) return 'all'
  const known = names.get(allowed)
  if (known !== undefined) return known
  const name = hash('sha256', JSON.stringify(allowed), 'base64')
  names.set(allowed, name)
  return name
}
