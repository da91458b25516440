import type { Json } from '../json/json-value.ts'

/** No request has this many tokens, searches or results: a larger number is a provider's mistake. */
const MAX_TOKENS = 1_000_000_000

/** Returns a count that a provider made; a fraction is rounded up. undefined: there is none, or it cannot be true. */
export function findCount(value: Json | undefined): number | undefined {
  return isCount(value, MAX_TOKENS) ? Math.ceil(value) : undefined
}

/** Returns a count like `findCount`; 0: there is none, or it cannot be true. */
export function countOrZero(value: Json | undefined): number {
  return findCount(value) ?? 0
}

/** Returns a count like `countOrZero`, however large: the caller has a bound of its own, above which it bills the maximum. */
export function anyCountOrZero(value: Json | undefined): number {
  return isCount(value, Number.MAX_SAFE_INTEGER) ? Math.ceil(value) : 0
}

/** Returns a count like `findCount`, but only a whole number: a fraction is undefined. */
export function findWholeCount(value: Json | undefined): number | undefined {
  return isCount(value, MAX_TOKENS) && Number.isInteger(value) ? value : undefined
}

/** Returns a count like `findWholeCount`, also from its text: a header has it as one. */
export function parseWholeCount(value: unknown): number | undefined {
  return findWholeCount(
    typeof value === 'string' && value !== '' ? Number(value) : (value as Json | undefined),
  )
}

function isCount(value: Json | undefined, max: number): value is number {
  return typeof value === 'number' && value >= 0 && value <= max
}
